package memfs

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

var (
	errDirectory   = errors.New("is a directory")
	errNoDirectory = errors.New("is not a directory")
)

func open(name string, n *node) fs.File {
	if n.mode.IsDir() {
		return &directory{info: newInfo(name, n)}
	}
	return &file{Reader: strings.NewReader(n.content), info: newInfo(name, n)}
}

// file is an open file. Its reader also seeks.
type file struct {
	*strings.Reader
	info info
}

// Stat implements fs.File.
func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close implements fs.File.
func (f *file) Close() error { return nil }

// directory is an open directory.
type directory struct {
	info info
	next int
}

// Stat implements fs.File.
func (d *directory) Stat() (fs.FileInfo, error) { return d.info, nil }

// Close implements fs.File.
func (d *directory) Close() error { return nil }

// Read implements fs.File.
func (d *directory) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.name, Err: errDirectory}
}

// ReadDir implements fs.ReadDirFile.
func (d *directory) ReadDir(n int) ([]fs.DirEntry, error) {
	left := len(d.info.node.names) - d.next
	if n > 0 && left == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > left {
		n = left
	}
	entries := d.info.node.entries(d.next, d.next+n)
	d.next += n
	return entries, nil
}

// entries lists a part of a directory. Links are listed as links.
func (n *node) entries(from, to int) []fs.DirEntry {
	entries := make([]fs.DirEntry, 0, to-from)
	for _, name := range n.names[from:to] {
		entries = append(entries, fs.FileInfoToDirEntry(info{name: name, node: n.children[name]}))
	}
	return entries
}

// info describes a node under the name by which it was found.
type info struct {
	name string
	node *node
}

func newInfo(name string, n *node) info { return info{name: path.Base(name), node: n} }

// Name implements fs.FileInfo.
func (i info) Name() string { return i.name }

// Size implements fs.FileInfo.
func (i info) Size() int64 { return int64(len(i.node.content)) }

// Mode implements fs.FileInfo.
func (i info) Mode() fs.FileMode { return i.node.mode }

// ModTime implements fs.FileInfo. Trees have no times, so that equal content gives equal trees.
func (i info) ModTime() time.Time { return time.Time{} }

// IsDir implements fs.FileInfo.
func (i info) IsDir() bool { return i.node.mode.IsDir() }

// Sys implements fs.FileInfo.
func (i info) Sys() any { return nil }
