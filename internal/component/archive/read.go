package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing/fstest"
)

// ErrUnsafe is behind errors about entries that could do harm.
var ErrUnsafe = errors.New("refused for safety")

// Entry is a regular file of an archive while it is read.
type Entry struct {
	Path    string
	Size    int64
	Content io.Reader
}

// Walk visits the regular files of a tar, compressed or not, in their order.
// Directories and extended headers are passed over; links and devices are
// refused.
func Walk(content io.Reader, limits Limits, visit func(Entry) error) error {
	return walk(content, limits, func(header *tar.Header, name string, data io.Reader) error {
		switch header.Typeflag {
		case tar.TypeDir:
			return nil
		case tar.TypeReg:
			return visit(Entry{Path: name, Size: header.Size, Content: data})
		}
		return fmt.Errorf("entry %q of the archive is a link: %w", name, ErrUnsafe)
	})
}

// walk visits directories, files and links.
func walk(content io.Reader, limits Limits, visit func(*tar.Header, string, io.Reader) error) error {
	in := &counter{from: content}
	unpacked, err := Decompress(in)
	if err != nil {
		return err
	}
	defer unpacked.Close() //nolint:errcheck // nothing is written
	reader := tar.NewReader(&bounded{from: unpacked, in: in, limits: limits})
	var bytes int64
	for files := 0; ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the archive: %w", err)
		}
		if header.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if files++; files > limits.Files {
			return &TooLargeError{What: "the number of files of the archive", Limit: int64(limits.Files)}
		}
		if bytes += header.Size; bytes > limits.Bytes {
			return &TooLargeError{What: "the unpacked number of bytes of the archive", Limit: limits.Bytes}
		}
		name, err := entryPath(header, limits)
		if err != nil {
			return err
		}
		if err := visit(header, name, reader); err != nil {
			return err
		}
	}
}

// entryPath returns the clean path of an entry.
func entryPath(header *tar.Header, limits Limits) (string, error) {
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeDir, tar.TypeSymlink, tar.TypeLink:
	default:
		return "", fmt.Errorf("entry %q of the archive is a device or the like (type %q): %w", header.Name, header.Typeflag, ErrUnsafe)
	}
	// Some writers put "./" or "/" before each path.
	name := strings.TrimLeft(header.Name, "/")
	for _, part := range strings.Split(name, "/") {
		if part == ".." {
			return "", fmt.Errorf("entry %q of the archive leads out of it: %w", header.Name, ErrUnsafe)
		}
	}
	name = path.Clean(name)
	if !fs.ValidPath(name) || strings.ContainsAny(name, "\x00\\") {
		return "", fmt.Errorf("entry %q of the archive is no path: %w", header.Name, ErrUnsafe)
	}
	if strings.Count(name, "/") > limits.Depth {
		return "", &TooLargeError{What: fmt.Sprintf("the depth of entry %.80q of the archive", header.Name), Limit: int64(limits.Depth)}
	}
	return name, nil
}

// Unpack reads a tar, compressed or not, into memory. Links must stay inside.
func Unpack(content io.Reader, limits Limits) (fs.FS, error) {
	files := fstest.MapFS{}
	err := walk(content, limits, func(header *tar.Header, name string, data io.Reader) error {
		if name == "." {
			return nil
		}
		file, err := unpackEntry(files, header, name, data)
		if err != nil {
			return err
		}
		if err := checkParents(files, name); err != nil {
			return err
		}
		if old, exists := files[name]; exists && old.Mode.IsDir() != file.Mode.IsDir() {
			return fmt.Errorf("entry %q of the archive is a file and a directory: %w", name, ErrUnsafe)
		}
		files[name] = file
		return nil
	})
	if err != nil {
		return nil, err
	}
	return files, nil
}

func unpackEntry(files fstest.MapFS, header *tar.Header, name string, data io.Reader) (*fstest.MapFile, error) {
	switch header.Typeflag {
	case tar.TypeDir:
		return &fstest.MapFile{Mode: fs.ModeDir | 0o755}, nil
	case tar.TypeSymlink:
		if path.IsAbs(header.Linkname) || !fs.ValidPath(path.Join(path.Dir(name), header.Linkname)) {
			return nil, fmt.Errorf("entry %q of the archive is a link to %q, which is outside: %w", name, header.Linkname, ErrUnsafe)
		}
		return &fstest.MapFile{Data: []byte(header.Linkname), Mode: fs.ModeSymlink | 0o777}, nil
	case tar.TypeLink:
		target := path.Clean(strings.TrimLeft(header.Linkname, "/"))
		linked, exists := files[target]
		if !exists || !linked.Mode.IsRegular() {
			return nil, fmt.Errorf("entry %q of the archive is a link to %q, which is no file before it: %w", name, header.Linkname, ErrUnsafe)
		}
		return linked, nil
	}
	read, err := ReadAll(data, header.Size)
	if err != nil {
		return nil, fmt.Errorf("entry %q of the archive: %w", name, err)
	}
	return &fstest.MapFile{Data: read, Mode: fs.FileMode(header.Mode).Perm()&0o555 | 0o444}, nil
}

// checkParents refuses an entry below something that is no directory.
func checkParents(files fstest.MapFS, name string) error {
	for parent := path.Dir(name); parent != "."; parent = path.Dir(parent) {
		if above, exists := files[parent]; exists && !above.Mode.IsDir() {
			return fmt.Errorf("entry %q of the archive is below %q, which is no directory: %w", name, parent, ErrUnsafe)
		}
	}
	return nil
}
