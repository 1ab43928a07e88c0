// Package memfs holds small trees of files in memory. A tree never changes
// after it was built, so any number of goroutines can read it, and its links
// never lead out of it.
package memfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// ErrLinks is behind errors about links that form a cycle or lead through too many others.
var ErrLinks = errors.New("too many links, or a cycle of links")

// ErrOutside is behind errors about links that lead out of the tree.
var ErrOutside = errors.New("the link leads out of the tree")

// maxHops is how many links a path may lead through.
const maxHops = 40

// Tree is a tree of files. It is an fs.FS, and implements fs.ReadFileFS,
// fs.ReadDirFS, fs.StatFS and fs.ReadLinkFS as well.
type Tree struct {
	root    *node
	entries int
	bytes   int64
}

// Clean returns a path as a file system knows it: relative to the root, which it
// cannot lead out of.
func Clean(name string) string {
	if name = path.Clean("/" + name)[1:]; name != "" {
		return name
	}
	return "."
}

// Empty returns a tree without files.
func Empty() *Tree { return (&Builder{}).Tree() }

// Entries returns how many files, directories and links the tree has.
func (t *Tree) Entries() int { return t.entries }

// Bytes returns how many bytes the files have together.
func (t *Tree) Bytes() int64 { return t.bytes }

// node is a file, a directory or a link.
type node struct {
	mode fs.FileMode
	// content is that of a file, or the target of a link. It is a string because its users cannot
	// change a string.
	content  string
	children map[string]*node
	// names are those of the children, in their order.
	names []string
}

func newDirectory() *node {
	return &node{mode: fs.ModeDir | 0o555, children: map[string]*node{}}
}

// Open implements fs.FS.
func (t *Tree) Open(name string) (fs.File, error) {
	found, err := t.find("open", name, true)
	if err != nil {
		return nil, err
	}
	return open(name, found), nil
}

// Stat implements fs.StatFS.
func (t *Tree) Stat(name string) (fs.FileInfo, error) {
	found, err := t.find("stat", name, true)
	if err != nil {
		return nil, err
	}
	return newInfo(name, found), nil
}

// Lstat implements fs.ReadLinkFS.
func (t *Tree) Lstat(name string) (fs.FileInfo, error) {
	found, err := t.find("lstat", name, false)
	if err != nil {
		return nil, err
	}
	return newInfo(name, found), nil
}

// ReadLink implements fs.ReadLinkFS.
func (t *Tree) ReadLink(name string) (string, error) {
	found, err := t.find("readlink", name, false)
	if err != nil {
		return "", err
	}
	if found.mode.Type() != fs.ModeSymlink {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return found.content, nil
}

// ReadFile implements fs.ReadFileFS.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	found, err := t.find("read", name, true)
	if err != nil {
		return nil, err
	}
	if found.mode.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errDirectory}
	}
	return []byte(found.content), nil
}

// ReadDir implements fs.ReadDirFS.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	found, err := t.find("readdir", name, true)
	if err != nil {
		return nil, err
	}
	if !found.mode.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNoDirectory}
	}
	return found.entries(0, len(found.names)), nil
}

// find returns what is at a path. A link in the middle of the path is always
// followed, one at its end if follow is true.
func (t *Tree) find(op, name string, follow bool) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	found, err := t.walk(name, follow)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return found, nil
}

func (t *Tree) walk(name string, follow bool) (*node, error) {
	// The directories from the root to where we are.
	way := []*node{t.root}
	todo := strings.Split(name, "/")
	for hops := 0; len(todo) > 0; {
		step := todo[0]
		todo = todo[1:]
		at := way[len(way)-1]
		switch {
		case !at.mode.IsDir():
			return nil, errNoDirectory
		case step == "" || step == ".":
			continue
		case step == "..":
			if len(way) == 1 {
				return nil, ErrOutside
			}
			way = way[:len(way)-1]
			continue
		}
		next, exists := at.children[step]
		if !exists {
			return nil, fs.ErrNotExist
		}
		if next.mode.Type() != fs.ModeSymlink || (len(todo) == 0 && !follow) {
			way = append(way, next)
			continue
		}
		if hops++; hops > maxHops {
			return nil, fmt.Errorf("%w: link to %q", ErrLinks, next.content)
		}
		todo = append(strings.Split(next.content, "/"), todo...)
	}
	return way[len(way)-1], nil
}
