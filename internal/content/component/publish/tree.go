package publish

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// directory packs a directory. Times and owners are left out, so that the same
// files give the same digest.
func (i *Input) directory(base string) ([]byte, error) {
	found, err := locate(base, i.Path)
	if err != nil {
		return nil, err
	}
	prefix := ""
	if i.PreserveDir {
		prefix = filepath.Base(found)
	}
	return i.packTree(found, prefix)
}

// packTree packs the files of a directory below a prefix.
func (i *Input) packTree(found, prefix string) ([]byte, error) {
	root, err := os.OpenRoot(found)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written
	var out bytes.Buffer
	writer := tar.NewWriter(&out)
	if err := i.walk(writer, root, ".", prefix); err != nil {
		return nil, fmt.Errorf("pack %s: %w", found, err)
	}
	if err := writer.Close(); err != nil {
		return nil, fmt.Errorf("pack %s: %w", found, err)
	}
	return out.Bytes(), nil
}

// walk packs what is below a directory, under another name.
func (i *Input) walk(writer *tar.Writer, root *os.Root, directory, as string) error {
	return fs.WalkDir(root.FS(), directory, func(name string, entry fs.DirEntry, err error) error { // wrapped by the caller
		target := path.Join(as, name)
		if directory != "." {
			target = path.Join(as, strings.TrimPrefix(name, directory))
		}
		if err != nil || target == "." {
			return err
		}
		return i.pack(writer, root, name, target, entry)
	})
}

func (i *Input) pack(writer *tar.Writer, root *os.Root, name, as string, entry fs.DirEntry) error {
	if name != "." && matchesAny(i.ExcludeFiles, name) {
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if entry.IsDir() {
		return writer.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: as + "/", Mode: 0o755, Format: tar.FormatPAX}) // wrapped above
	}
	if len(i.IncludeFiles) > 0 && !matchesAny(i.IncludeFiles, name) {
		return nil
	}
	if entry.Type()&fs.ModeSymlink != 0 && !i.FollowSymlinks {
		target, err := root.Readlink(filepath.FromSlash(name))
		if err != nil {
			return err // wrapped above
		}
		return writer.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: as, Linkname: filepath.ToSlash(target), Mode: 0o777, Format: tar.FormatPAX}) // wrapped above
	}
	if entry.Type()&fs.ModeSymlink != 0 {
		return i.follow(writer, root, name, as)
	}
	return packFile(writer, root, name, as)
}

// follow packs what a link leads to. The root keeps it inside.
func (i *Input) follow(writer *tar.Writer, root *os.Root, name, as string) error {
	info, err := root.Stat(filepath.FromSlash(name))
	if err != nil {
		return fmt.Errorf("the link %s cannot be followed (leave it out with excludeFiles, or keep links): %w", name, err)
	}
	if !info.IsDir() {
		return packFile(writer, root, name, as)
	}
	for above := path.Dir(name); ; above = path.Dir(above) {
		ancestor, err := root.Stat(filepath.FromSlash(above))
		if err != nil {
			return err // wrapped above
		}
		if os.SameFile(ancestor, info) {
			return fmt.Errorf("the link %s leads to the directory that it is in: leave it out with excludeFiles, or keep links", name)
		}
		if above == "." {
			return i.walk(writer, root, name, as)
		}
	}
}

// packFile packs a file. Of its permissions only that to execute is kept: the others belong to the
// user who publishes.
func packFile(writer *tar.Writer, root *os.Root, name, as string) error {
	info, err := root.Stat(filepath.FromSlash(name))
	if err != nil {
		return err // wrapped above
	}
	mode := int64(0o644)
	if info.Mode().Perm()&0o111 != 0 {
		mode = 0o755
	}
	data, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return err // wrapped above
	}
	if err := writer.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: as, Size: int64(len(data)), Mode: mode, Format: tar.FormatPAX}); err != nil {
		return err // wrapped above
	}
	_, err = writer.Write(data)
	return err // wrapped above
}

// matchesAny compares a whole path with patterns: *.txt is a file of the directory
// itself, and */*.txt one of a directory in it.
func matchesAny(patterns []string, name string) bool {
	for _, pattern := range patterns {
		if matched, err := path.Match(strings.TrimPrefix(pattern, "./"), name); err == nil && matched {
			return true
		}
	}
	return false
}
