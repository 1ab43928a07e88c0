package builtin

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"sort"
	"strings"

	"go.landscaper.dev/internal/spiff/value"
)

// maxFile bounds the size of a file that is read.
const maxFile = 16 << 20

// content reads a file or, with full access, a URL.
func (c *Call) content(name string) ([]byte, error) {
	s := c.Settings()
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		if s.Access < Full {
			return nil, c.failf("no network access in this execution environment")
		}
		content, err := s.System.Fetch(c.Context(), name)
		if err != nil {
			return nil, c.failf("%w", c.because(err))
		}
		return content, nil
	}
	if s.Access >= Full {
		content, err := s.System.ReadFile(name)
		if err != nil {
			return nil, c.failf("%w", c.because(err))
		}
		return content, nil
	}
	if s.Files == nil {
		return nil, c.failf("%w", errNoFiles)
	}
	f, err := s.Files.Open(inside(name))
	if err != nil {
		return nil, c.failf("%s: %w", c.text(name), reason(err))
	}
	defer func() { _ = f.Close() }() // nothing was written that could get lost
	content, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, c.failf("%s: %w", c.text(name), reason(err))
	}
	if len(content) > maxFile {
		return nil, c.failf("%s is larger than %d bytes", c.text(name), maxFile)
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
func (c *Call) entries(name string) ([]fs.DirEntry, error) {
	s := c.Settings()
	switch {
	case s.Access >= Full:
		return s.System.ReadDir(name)
	case s.Files == nil:
		return nil, errNoFiles
	}
	return fs.ReadDir(s.Files, directory(name))
}

// exists tells whether a path is there, and whether it is a directory.
func (c *Call) exists(name string) (dir, ok bool) {
	s := c.Settings()
	var info fs.FileInfo
	var err error
	if s.Access >= Full {
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

func listDir(dirs bool) func(*Call) (value.Value, error) {
	return func(c *Call) (value.Value, error) {
		name, err := c.Text(0)
		if err != nil {
			return nil, err
		}
		entries, err := c.entries(name)
		if err != nil {
			return nil, c.failf("%s: %w", c.text(name), reason(err))
		}
		var names []string
		for _, e := range entries {
			if e.IsDir() == dirs {
				names = append(names, e.Name())
			}
		}
		sort.Strings(names)
		return value.MarkData(textList(names)), c.Spend(int64(len(names)), 0)
	}
}

func lookup(dirs bool) func(*Call) (value.Value, error) {
	return func(c *Call) (value.Value, error) {
		name, err := c.Text(0)
		if err != nil {
			return nil, err
		}
		if c.Settings().Files == nil && c.Settings().Access < Full {
			return nil, c.failf("%w", errNoFiles)
		}
		candidates := []string{name}
		if !path.IsAbs(name) {
			candidates = nil
			for i := 1; i < c.Len(); i++ {
				places, err := c.texts(i)
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
			if dir, ok := c.exists(candidate); ok && dir == dirs {
				found = append(found, candidate)
			}
		}
		return textList(found), nil
	}
}
