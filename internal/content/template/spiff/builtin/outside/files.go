package outside

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// maxFile bounds the size of a file that is read.
const maxFile = 16 << 20

// readContent reads a file or, with full access, a URL.
func readContent(c *call.Call, name string) ([]byte, error) {
	s := c.Settings()
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		if s.Access < call.Full {
			return nil, c.Failf("no network access in this execution environment")
		}
		content, err := s.System.Fetch(c.Context(), name)
		if err != nil {
			return nil, c.Failf("%w", c.Because(err))
		}
		return content, nil
	}
	if s.Access >= call.Full {
		content, err := s.System.ReadFile(name)
		if err != nil {
			return nil, c.Failf("%w", c.Because(err))
		}
		return content, nil
	}
	if s.Files == nil {
		return nil, c.Failf("%w", errNoFiles)
	}
	f, err := s.Files.Open(inside(name))
	if err != nil {
		return nil, c.Failf("%s: %w", c.Quote(name), reason(err))
	}
	defer func() { _ = f.Close() }() // nothing was written that could get lost
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, c.Failf("%s: %w", c.Quote(name), reason(err))
	}
	if len(content) > maxFile {
		return nil, c.Failf("%s is larger than %d bytes", c.Quote(name), maxFile)
	}
	return content, nil
}

// inside maps any path to a path below the root of the file system.
func inside(name string) string {
	return path.Clean("/" + name)[1:]
}

// reason leaves the path out of a file error.
func reason(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// entries lists a directory.
func entries(c *call.Call, name string) ([]fs.DirEntry, error) {
	s := c.Settings()
	switch {
	case s.Access >= call.Full:
		return s.System.ReadDir(name)
	case s.Files == nil:
		return nil, errNoFiles
	}
	return fs.ReadDir(s.Files, directory(name))
}

// exists reports whether a path is there, and whether it is a directory.
func exists(c *call.Call, name string) (dir, ok bool) {
	s := c.Settings()
	var info fs.FileInfo
	var err error
	if s.Access >= call.Full {
		info, err = s.System.Stat(name)
	} else {
		info, err = fs.Stat(s.Files, directory(name))
	}
	return err == nil && info.IsDir(), err == nil
}

var errNoFiles = errors.New("no OS operations supported in this execution environment")

func directory(name string) string {
	if name = inside(name); name == "" {
		return "."
	}
	return name
}

func listDir(dirs bool) func(*call.Call) (value.Value, error) {
	return func(c *call.Call) (value.Value, error) {
		name, err := c.Text(0)
		if err != nil {
			return nil, err
		}
		entries, err := entries(c, name)
		if err != nil {
			return nil, c.Failf("%s: %w", c.Quote(name), reason(err))
		}
		var names []string
		for _, e := range entries {
			if e.IsDir() == dirs {
				names = append(names, e.Name())
			}
		}
		sort.Strings(names)
		return value.MarkData(call.TextList(names)), nil
	}
}

func lookup(dirs bool) func(*call.Call) (value.Value, error) {
	return func(c *call.Call) (value.Value, error) {
		name, err := c.Text(0)
		if err != nil {
			return nil, err
		}
		if c.Settings().Files == nil && c.Settings().Access < call.Full {
			return nil, c.Failf("%w", errNoFiles)
		}
		candidates := []string{name}
		if !path.IsAbs(name) {
			candidates = nil
			for i := 1; i < c.Len(); i++ {
				places, err := c.Texts(i)
				if err != nil {
					return nil, err
				}
				for _, p := range places {
					candidates = append(candidates, path.Join(p, name))
				}
			}
		}
		var found []string
		for _, candidate := range candidates {
			if dir, ok := exists(c, candidate); ok && dir == dirs {
				found = append(found, candidate)
			}
		}
		return call.TextList(found), nil
	}
}
