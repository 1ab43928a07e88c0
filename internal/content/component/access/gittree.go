package access

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"

	"go.landscaper.dev/internal/content/component/archive"
)

// gitWalk writes the files of a tree. One small tree can stand for any number of
// files, so that it counts what it writes.
type gitWalk struct {
	ctx    context.Context // lives for one call
	tree   *gitTree
	to     *tar.Writer
	limits archive.Limits
	files  int
	bytes  int64
}

func (w *gitWalk) directory(hash plumbing.Hash, at string, depth int) error {
	if depth > w.limits.Depth {
		return &archive.TooLargeError{What: "the number of directories in each other", Limit: int64(w.limits.Depth)}
	}
	tree, err := object.GetTree(w.tree.objects, hash)
	if err != nil {
		return fmt.Errorf("directory %q: %w", at, err)
	}
	for _, entry := range tree.Entries {
		if err := w.ctx.Err(); err != nil {
			return err // the caller gave up
		}
		if entry.Name == "" || entry.Name == "." || entry.Name == ".." || strings.EqualFold(entry.Name, ".git") || strings.ContainsAny(entry.Name, "/\\\x00") {
			return fmt.Errorf("the name %.80q in directory %q is not allowed", entry.Name, at)
		}
		if w.files++; w.files > w.limits.Files {
			return &archive.TooLargeError{What: "the number of files", Limit: int64(w.limits.Files)}
		}
		if err := w.entry(entry, path.Join(at, entry.Name), depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *gitWalk) entry(entry object.TreeEntry, at string, depth int) error {
	header := &tar.Header{Name: at, Format: tar.FormatPAX, Typeflag: tar.TypeReg, Mode: 0o644}
	switch entry.Mode {
	case filemode.Dir, filemode.Submodule:
		header.Name, header.Typeflag, header.Mode = at+"/", tar.TypeDir, 0o755
		if err := w.to.WriteHeader(header); err != nil || entry.Mode == filemode.Submodule {
			// Submodules are other repositories; their place stays empty.
			return err // the caller says what it did
		}
		return w.directory(entry.Hash, at, depth+1)
	case filemode.Executable:
		header.Mode = 0o755
	case filemode.Regular, filemode.Deprecated:
	case filemode.Symlink:
		header.Typeflag = tar.TypeSymlink
	default:
		return fmt.Errorf("%s has the unknown mode %s", at, entry.Mode)
	}
	blob, err := object.GetBlob(w.tree.objects, entry.Hash)
	if err != nil {
		return fmt.Errorf("file %s: %w", at, err)
	}
	if w.bytes += blob.Size; w.bytes > w.limits.Bytes {
		return &archive.TooLargeError{What: "the number of bytes of all files", Limit: w.limits.Bytes}
	}
	content, err := blob.Reader()
	if err != nil {
		return fmt.Errorf("file %s: %w", at, err)
	}
	return errors.Join(w.file(header, blob.Size, content), content.Close())
}

// maxLink is how long the target of a link may be.
const maxLink = 4096

func (w *gitWalk) file(header *tar.Header, size int64, content io.Reader) error {
	if header.Typeflag == tar.TypeSymlink {
		target, err := archive.ReadAll(content, maxLink)
		if err != nil {
			return fmt.Errorf("link %s: %w", header.Name, err)
		}
		header.Linkname = string(target)
		return w.to.WriteHeader(header) // the caller says what it did
	}
	header.Size = size
	if err := w.to.WriteHeader(header); err != nil {
		return err // the caller says what it did
	}
	_, err := io.Copy(w.to, content)
	return err // the caller says what it did
}
