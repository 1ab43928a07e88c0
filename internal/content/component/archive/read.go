package archive

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"go.landscaper.dev/internal/base/memfs"
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
	return walk(content, limits, regular(visit))
}

// WalkTar is Walk for a tar that the caller decompresses.
func WalkTar(content io.Reader, limits Limits, visit func(Entry) error) error {
	return walkTar(content, limits, regular(visit))
}

// regular passes files only.
func regular(visit func(Entry) error) func(*tar.Header, string, io.Reader) error {
	return func(header *tar.Header, name string, data io.Reader) error {
		switch header.Typeflag {
		case tar.TypeDir:
			return nil
		case tar.TypeReg:
			return visit(Entry{Path: name, Size: header.Size, Content: data})
		}
		return fmt.Errorf("entry %q of the archive is a link: %w", name, ErrUnsafe)
	}
}

// walk visits directories, files and links.
func walk(content io.Reader, limits Limits, visit func(*tar.Header, string, io.Reader) error) error {
	unpacked, err := Open(content, limits)
	if err != nil {
		return err
	}
	defer unpacked.Close() //nolint:errcheck // nothing is written
	return walkTar(unpacked, limits, visit)
}

func walkTar(content io.Reader, limits Limits, visit func(*tar.Header, string, io.Reader) error) error {
	reader := tar.NewReader(content)
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
		// A sum of what headers say could leave the numbers and begin below zero.
		if header.Size < 0 || header.Size > limits.Bytes-bytes {
			return &TooLargeError{What: "the unpacked number of bytes of the archive", Limit: limits.Bytes}
		}
		bytes += header.Size
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
		return "", fmt.Errorf("entry %q of the archive is not a path: %w", header.Name, ErrUnsafe)
	}
	if strings.Count(name, "/") > limits.Depth {
		return "", &TooLargeError{What: fmt.Sprintf("the depth of entry %.80q of the archive", header.Name), Limit: int64(limits.Depth)}
	}
	return name, nil
}

// Unpack reads a tar, compressed or not, into memory. Links must stay inside.
func Unpack(content io.Reader, limits Limits) (*memfs.Tree, error) {
	builder := NewBuilder(limits)
	if err := UnpackInto(builder, content, limits); err != nil {
		return nil, err
	}
	return builder.Tree(), nil
}

// NewBuilder returns a builder of a tree that keeps the limits, whatever number
// of archives is unpacked into it.
func NewBuilder(limits Limits) *memfs.Builder {
	return &memfs.Builder{Limits: memfs.Limits{Entries: limits.Files, Bytes: limits.Bytes}}
}

// UnpackInto reads a tar into a tree that may have files already. A file replaces
// one that is there, as in an archive that was appended to.
func UnpackInto(builder *memfs.Builder, content io.Reader, limits Limits) error {
	return walk(content, limits, func(header *tar.Header, name string, data io.Reader) error {
		err := unpackEntry(builder, header, name, data)
		var tooLarge *TooLargeError
		if err == nil || errors.As(err, &tooLarge) {
			return err
		}
		return fmt.Errorf("entry %q of the archive: %w", header.Name, err)
	})
}

func unpackEntry(builder *memfs.Builder, header *tar.Header, name string, data io.Reader) error {
	switch {
	case header.Typeflag == tar.TypeDir:
		return unsafe(builder.AddDirectory(name))
	case name == ".":
		return fmt.Errorf("the root is not a directory: %w", ErrUnsafe)
	case header.Typeflag == tar.TypeSymlink:
		return unsafe(builder.AddSymlink(name, header.Linkname))
	case header.Typeflag == tar.TypeLink:
		return unsafe(builder.AddCopy(name, path.Clean(strings.TrimLeft(header.Linkname, "/"))))
	}
	var text strings.Builder
	if _, err := io.Copy(&text, data); err != nil {
		return fmt.Errorf("read the content: %w", err)
	}
	if err := builder.Replace(name, text.String()); err != nil || header.Mode&0o111 == 0 {
		return unsafe(err)
	}
	return unsafe(builder.MarkExecutable(name))
}

// unsafe marks what a tree refuses.
func unsafe(err error) error {
	var tooLarge *TooLargeError
	if err == nil || errors.As(err, &tooLarge) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnsafe, err)
}
