package memfs

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// maxTarget is how long the target of a link may be.
const maxTarget = 4096

// Limits bound a tree that is built. 0 means unlimited.
type Limits struct {
	// Entries is how many files, directories and links there may be.
	Entries int
	// Bytes is how many bytes may be added, also if they are replaced later.
	Bytes int64
}

// LimitError says that a tree would exceed a limit.
type LimitError struct {
	What  string
	Limit int64
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s is more than the limit of %d", e.What, e.Limit)
}

// Builder builds a tree. Directories above a file are created. A path that is already there is an
// error, as is a file in the place of a directory.
type Builder struct {
	// Limits may be set before the first file is added.
	Limits Limits

	root    *node
	entries int
	bytes   int64
}

// AddFile adds a file.
func (b *Builder) AddFile(name, content string) error {
	return b.add(name, &node{mode: 0o444, content: content}, false)
}

// MarkExecutable marks a file that was added before as a program.
func (b *Builder) MarkExecutable(name string) error {
	found := b.find(name)
	if found == nil || !found.mode.IsRegular() {
		return &fs.PathError{Op: "mark", Path: name, Err: fs.ErrNotExist}
	}
	found.mode |= 0o111
	return nil
}

// Replace adds a file, also in the place of another file or a link.
func (b *Builder) Replace(name, content string) error {
	return b.add(name, &node{mode: 0o444, content: content}, true)
}

// AddDirectory adds a directory if it is not there.
func (b *Builder) AddDirectory(name string) error {
	if name == "." {
		return nil
	}
	if err := check("add directory", name); err != nil {
		return err
	}
	_, err := b.directory(name)
	return err
}

// AddSymlink adds a link, also in the place of a file or another link. The target is
// relative to the directory of the link, and inside the tree; it need not be
// there.
func (b *Builder) AddSymlink(name, target string) error {
	inside := target != "" && len(target) <= maxTarget && !path.IsAbs(target) && !strings.ContainsRune(target, 0)
	if !inside || !fs.ValidPath(path.Join(path.Dir(name), target)) {
		return &fs.PathError{Op: "add link", Path: name, Err: fmt.Errorf("%w: target %.100q", ErrOutside, target)}
	}
	return b.add(name, &node{mode: fs.ModeSymlink | 0o777, content: target}, true)
}

// AddCopy adds a file with the content of another one that was added before.
func (b *Builder) AddCopy(name, as string) error {
	at := b.find(as)
	if at == nil || !at.mode.IsRegular() {
		return &fs.PathError{Op: "add", Path: name, Err: fmt.Errorf("%.100q is not a file that was added before", as)}
	}
	return b.add(name, at, true)
}

// find returns what was added under a name, or nil. It follows no links.
func (b *Builder) find(name string) *node {
	at := b.root
	for _, step := range strings.Split(name, "/") {
		if at != nil {
			at = at.children[step]
		}
	}
	return at
}

// Tree returns what was built. The builder is empty afterwards.
func (b *Builder) Tree() *Tree {
	tree := &Tree{root: b.root, entries: b.entries, bytes: b.bytes}
	if tree.root == nil {
		tree.root = newDirectory()
	}
	tree.root.sort()
	*b = Builder{Limits: b.Limits}
	return tree
}

func (n *node) sort() {
	n.names = slices.Sorted(maps.Keys(n.children))
	for _, child := range n.children {
		if child.mode.IsDir() {
			child.sort()
		}
	}
}

func check(op, name string) error {
	if !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, 0) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return nil
}

func (b *Builder) add(name string, added *node, replace bool) error {
	if err := check("add", name); err != nil {
		return err
	}
	parent, err := b.directory(path.Dir(name))
	if err != nil {
		return err
	}
	base := path.Base(name)
	old, exists := parent.children[base]
	if exists && (old.mode.IsDir() || !replace) {
		return &fs.PathError{Op: "add", Path: name, Err: fmt.Errorf("it is already there as a %s: %w", old.kind(), fs.ErrExist)}
	}
	if b.bytes += int64(len(added.content)); b.Limits.Bytes > 0 && b.bytes > b.Limits.Bytes {
		return &LimitError{What: "the number of bytes", Limit: b.Limits.Bytes}
	}
	if !exists {
		if err := b.count(); err != nil {
			return err
		}
	}
	parent.children[base] = added
	return nil
}

// directory returns the directory at a path and makes it if it is not there.
func (b *Builder) directory(name string) (*node, error) {
	if b.root == nil {
		b.root = newDirectory()
	}
	at := b.root
	if name == "." {
		return at, nil
	}
	for end := 0; end < len(name); end++ {
		start := end
		for end < len(name) && name[end] != '/' {
			end++
		}
		next, exists := at.children[name[start:end]]
		switch {
		case !exists:
			if err := b.count(); err != nil {
				return nil, err
			}
			next = newDirectory()
			at.children[name[start:end]] = next
		case !next.mode.IsDir():
			return nil, &fs.PathError{Op: "add", Path: name, Err: fmt.Errorf("%q is a %s and %w", name[:end], next.kind(), errNoDirectory)}
		}
		at = next
	}
	return at, nil
}

func (b *Builder) count() error {
	if b.entries++; b.Limits.Entries > 0 && b.entries > b.Limits.Entries {
		return &LimitError{What: "the number of files", Limit: int64(b.Limits.Entries)}
	}
	return nil
}

func (n *node) kind() string {
	switch n.mode.Type() {
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "link"
	}
	return "file"
}
