package ctf

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/oci"
)

// Limits of archives that are tars. Images are large.
func limits() archive.Limits {
	return archive.Limits{Bytes: 64 << 30, Files: 1_000_000, Ratio: 1000, Depth: 16}
}

// directory is an archive as a directory. os.Root keeps links inside.
type directory struct{ root *os.Root }

func (d directory) open(name string) (io.ReadCloser, int64, error) {
	file, err := d.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("%s: %w", name, oci.ErrNotFound)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open: %w", err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

func (d directory) close() error { return d.root.Close() }

// write writes a file completely or not at all.
func (d directory) write(name string, content io.Reader) error {
	if err := d.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	partial := name + ".partial"
	file, err := d.root.OpenFile(partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = io.Copy(file, content)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, errors.Join(err, d.root.Remove(partial)))
	}
	if err := d.root.Rename(partial, name); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// unpacked is an archive that was a tar; it is removed at the end.
type unpacked struct {
	directory
	path string
}

func (u unpacked) close() error {
	return errors.Join(u.directory.close(), os.RemoveAll(u.path))
}

// Open opens an archive: a directory, a tar or a compressed tar.
func Open(name string) (*Archive, error) {
	files, err := openFiles(name)
	if err != nil {
		return nil, fmt.Errorf("open the archive %s: %w", name, err)
	}
	a, err := open(files)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the archive %s: %w", name, err), files.close())
	}
	return a, nil
}

func openFiles(name string) (files, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", oci.ErrNotFound, err)
	}
	if err != nil {
		return nil, err // the caller says the name
	}
	if info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, err // the caller says the name
		}
		return directory{root}, nil
	}
	file, err := os.Open(name) // the user named it
	if err != nil {
		return nil, err // the caller says the name
	}
	defer file.Close() //nolint:errcheck // nothing is written
	return unpack(file)
}

// unpack puts the files of a tar into a directory of their own: blobs of images
// need not fit into memory.
func unpack(content io.Reader) (files, error) {
	temporary, err := os.MkdirTemp("", "ctf-")
	if err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	root, err := os.OpenRoot(temporary)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("unpack: %w", err), os.RemoveAll(temporary))
	}
	u := unpacked{directory{root}, temporary}
	err = archive.Walk(content, limits(), func(entry archive.Entry) error {
		return u.write(entry.Path, entry.Content)
	})
	if err != nil {
		return nil, errors.Join(err, u.close())
	}
	return u, nil
}

// Create opens an archive in a directory for writing. It is made if it is not
// there.
func Create(name string) (*Writer, error) {
	if err := os.MkdirAll(name, 0o755); err != nil {
		return nil, fmt.Errorf("create the archive %s: %w", name, err)
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("create the archive %s: %w", name, err)
	}
	d := directory{root}
	if _, err := root.Stat(indexFile); errors.Is(err, fs.ErrNotExist) {
		return &Writer{Archive: Archive{files: d, index: index{SchemaVersion: 1}}, directory: d}, nil
	}
	a, err := open(d)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the archive %s: %w", name, err), d.close())
	}
	return &Writer{Archive: *a, directory: d}, nil
}

// PackFile writes a directory, such as an archive, as a tar; compressed if gzip
// is true.
func PackFile(to io.Writer, name string, gzip bool) error {
	root, err := os.OpenRoot(name)
	if err != nil {
		return fmt.Errorf("pack %s: %w", name, err)
	}
	defer root.Close() //nolint:errcheck // nothing is written
	pack := func(to io.Writer) error { return packRoot(tar.NewWriter(to), root) }
	if gzip {
		return archive.Gzip(to, pack)
	}
	return pack(to)
}

func packRoot(writer *tar.Writer, root *os.Root) error {
	err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, size, err := directory{root}.open(name)
		if err != nil {
			return err
		}
		defer content.Close() //nolint:errcheck // nothing is written
		if err := writer.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, Format: tar.FormatPAX}); err != nil {
			return err // wrapped below
		}
		_, err = io.Copy(writer, content)
		return err // wrapped below
	})
	if err != nil {
		return fmt.Errorf("pack an archive: %w", err)
	}
	if err := writer.Close(); err != nil {
		return fmt.Errorf("pack an archive: %w", err)
	}
	return nil
}
