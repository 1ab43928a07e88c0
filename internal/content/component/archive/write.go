package archive

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
)

// File is a file to be packed.
type File struct {
	Path string
	Data []byte
}

// Pack writes files as a tar. The same files give the same bytes: times and
// owners are left out.
func Pack(to io.Writer, files ...File) error {
	writer := tar.NewWriter(to)
	for _, file := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: file.Path, Size: int64(len(file.Data)), Mode: 0o644, Format: tar.FormatPAX}
		if err := writer.WriteHeader(header); err != nil {
			return fmt.Errorf("pack %s: %w", file.Path, err)
		}
		if _, err := writer.Write(file.Data); err != nil {
			return fmt.Errorf("pack %s: %w", file.Path, err)
		}
	}
	if err := writer.Close(); err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	return nil
}

// PackTree writes the directories and files of a tree as a tar. The same tree
// gives the same bytes.
func PackTree(to io.Writer, tree fs.FS, limits Limits) error {
	writer := tar.NewWriter(to)
	var bytes int64
	files := 0
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if files++; files > limits.Files {
			return &TooLargeError{What: "the number of files", Limit: int64(limits.Files)}
		}
		if entry.IsDir() {
			return writer.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755, Format: tar.FormatPAX})
		}
		data, mode, err := readFile(tree, name, limits.Bytes-bytes)
		if err != nil {
			return err
		}
		bytes += int64(len(data))
		header := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: mode, Format: tar.FormatPAX}
		if err := writer.WriteHeader(header); err != nil {
			return err
		}
		_, err = writer.Write(data)
		return err
	})
	if err != nil {
		return fmt.Errorf("pack a directory: %w", err)
	}
	if err := writer.Close(); err != nil {
		return fmt.Errorf("pack a directory: %w", err)
	}
	return nil
}

// readFile also returns the mode for the archive: of the permissions, only whether
// the file is a program counts, because the rest depends on the machine.
func readFile(tree fs.FS, name string, limit int64) ([]byte, int64, error) {
	file, err := tree.Open(name)
	if err != nil {
		return nil, 0, fmt.Errorf("open %s: %w", name, err)
	}
	defer file.Close() //nolint:errcheck // nothing is written
	info, err := file.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("open %s: %w", name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file", name)
	}
	data, err := ReadAll(file, limit)
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", name, err)
	}
	mode := int64(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	return data, mode, nil
}

// Gzip compresses what write writes. The same content gives the same bytes.
func Gzip(to io.Writer, write func(io.Writer) error) error {
	writer := gzip.NewWriter(to)
	if err := write(writer); err != nil {
		return err
	}
	if err := writer.Close(); err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	return nil
}
