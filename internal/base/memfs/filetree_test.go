package memfs

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func build(t testing.TB, add func(*Builder) error) *Tree {
	t.Helper()
	b := &Builder{}
	if err := add(b); err != nil {
		t.Fatal(err)
	}
	return b.Tree()
}

func sample(b *Builder) error {
	return errors.Join(
		b.AddFile("blueprint.yaml", "kind: Blueprint\n"), b.AddFile("templates/sub/items.yaml", "deployItems: []\n"),
		b.AddDirectory("empty"), b.AddDirectory("templates"), b.AddSymlink("link.yaml", "templates/sub/items.yaml"),
		b.AddSymlink("templates/up", "../blueprint.yaml"), b.AddSymlink("directory", "templates"), b.AddCopy("copy.yaml", "blueprint.yaml"))
}

func TestTreeIsAFileSystem(t *testing.T) {
	tree := build(t, sample)
	if err := fstest.TestFS(tree, "blueprint.yaml", "templates/sub/items.yaml", "empty", "link.yaml", "templates/up", "directory", "copy.yaml"); err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(Empty()); err != nil {
		t.Fatal(err)
	}
	if tree.Entries() != 9 || tree.Bytes() == 0 {
		t.Errorf("%d entries, %d bytes", tree.Entries(), tree.Bytes())
	}
}

func TestLinks(t *testing.T) {
	tree := build(t, func(b *Builder) error {
		return errors.Join(sample(b), b.AddSymlink("a", "b"), b.AddSymlink("b", "a"), b.AddSymlink("self", "self/x"), b.AddSymlink("gone", "nothing"),
			b.AddFile("flat/x", ""), b.AddSymlink("deep/one", "../flat"), b.AddSymlink("escape", "deep/one/../../blueprint.yaml"),
			b.AddSymlink("file-as-directory", "blueprint.yaml/x"), b.AddSymlink("here", "./templates//sub/../up"))
	})
	for _, test := range []struct {
		reason, path, want string
		err                error
	}{
		{"a link to a file", "link.yaml", "deployItems: []\n", nil},
		{"a link upwards", "templates/up", "kind: Blueprint\n", nil},
		{"through a link to a directory", "directory/sub/items.yaml", "deployItems: []\n", nil},
		{"two links after each other", "directory/up", "kind: Blueprint\n", nil},
		{"dots in a target", "here", "kind: Blueprint\n", nil},
		{"a cycle of two links", "a", "", ErrLinks},
		{"a cycle whose path grows", "self", "", ErrLinks},
		{"a target that is not there", "gone", "", fs.ErrNotExist},
		{"inside by its text, outside by where a link on the way leads", "escape", "", ErrOutside},
		{"below a file", "file-as-directory", "", errNoDirectory},
		{"no clean path", "../blueprint.yaml", "", fs.ErrInvalid},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := fs.ReadFile(tree, test.path)
			if !errors.Is(err, test.err) || string(got) != test.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	if target, err := tree.ReadLink("directory/up"); err != nil || target != "../blueprint.yaml" {
		t.Errorf("the last link is not followed to read it: %q, %v", target, err)
	}
	if _, err := tree.ReadLink("blueprint.yaml"); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("a file is no link: %v", err)
	}
}

func TestBuilderRefuses(t *testing.T) {
	for _, test := range []struct {
		reason string
		add    func(*Builder) error
		want   string
	}{
		{"a file that is there", func(b *Builder) error { return b.AddFile("templates/sub/items.yaml", "") }, "already there as a file"},
		{"a file in the place of a directory", func(b *Builder) error { return b.Replace("templates", "") }, "already there as a directory"},
		{"a directory in the place of a file", func(b *Builder) error { return b.AddDirectory("blueprint.yaml") }, "is a file and is not a directory"},
		{"a file below a file", func(b *Builder) error { return b.AddFile("blueprint.yaml/a", "") }, `"blueprint.yaml" is a file and is not a directory`},
		{"a file below a link", func(b *Builder) error { return b.AddFile("directory/a", "") }, `"directory" is a link and is not a directory`},
		{"a path upwards", func(b *Builder) error { return b.AddFile("../a", "") }, "invalid"},
		{"the root as a file", func(b *Builder) error { return b.AddFile(".", "") }, "invalid"},
		{"an absolute path", func(b *Builder) error { return b.AddDirectory("/a") }, "invalid"},
		{"an absolute link", func(b *Builder) error { return b.AddSymlink("a", "/etc/passwd") }, "leads out of the tree"},
		{"a link upwards", func(b *Builder) error { return b.AddSymlink("a/b", "../../etc/passwd") }, "leads out of the tree"},
		{"an empty link", func(b *Builder) error { return b.AddSymlink("a", "") }, "leads out of the tree"},
		{"a copy of a missing file", func(b *Builder) error { return b.AddCopy("a", "b") }, "not a file that was added before"},
		{"a program that is not there", func(b *Builder) error { return b.MarkExecutable("none") }, "mark none: file does not exist"},
		{"a directory as a program", func(b *Builder) error { return b.MarkExecutable("templates") }, "mark templates: file does not exist"},
		{"a link as a program", func(b *Builder) error { return b.MarkExecutable("link.yaml") }, "mark link.yaml: file does not exist"},
		{"a link in the place of a directory", func(b *Builder) error { return b.AddSymlink("templates", "empty") }, "already there as a directory"},
		{"a link whose target is too long", func(b *Builder) error { return b.AddSymlink("a", strings.Repeat("x", 4097)) }, "leads out of the tree"},
		{"a zero in a target", func(b *Builder) error { return b.AddSymlink("a", "b\x00c") }, "leads out of the tree"},
		{"a zero in a name", func(b *Builder) error { return b.AddFile("a\x00b", "") }, "invalid"},
		{"a name that is no UTF-8", func(b *Builder) error { return b.AddFile("a\xff", "") }, "invalid"},
		{"a slash at the end", func(b *Builder) error { return b.AddFile("a/", "") }, "invalid"},
		{"dots in the middle", func(b *Builder) error { return b.AddFile("a/../b", "") }, "invalid"},
		{"a copy of a link", func(b *Builder) error { return b.AddCopy("a", "link.yaml") }, "not a file that was added before"},
		{"a copy of a directory", func(b *Builder) error { return b.AddCopy("a", "templates") }, "not a file that was added before"},
		{"too many bytes, although the file is replaced", func(b *Builder) error {
			b.Limits.Bytes = 100
			return errors.Join(b.Replace("a", strings.Repeat("x", 30)), b.Replace("a", strings.Repeat("x", 30)))
		}, "the number of bytes is more than the limit of 100"},
		{"too many directories on the way", func(b *Builder) error {
			b.Limits.Entries = 12
			return b.AddFile("1/2/3/4", "")
		}, "the number of files is more than the limit of 12"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := &Builder{}
			if err := sample(b); err != nil {
				t.Fatal(err)
			}
			if err := test.add(b); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTreeIsImmutable(t *testing.T) {
	b := &Builder{}
	if err := sample(b); err != nil {
		t.Fatal(err)
	}
	tree := b.Tree()
	read, err := tree.ReadFile("blueprint.yaml")
	if err != nil {
		t.Fatal(err)
	}
	clear(read)
	entries, err := tree.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	clear(entries)
	file, err := tree.Open("blueprint.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(vandal{}, file); err != nil {
		t.Fatal(err)
	}
	if err := b.AddFile("late", ""); err != nil {
		t.Fatal(err)
	}
	if again, err := tree.ReadFile("blueprint.yaml"); err != nil || string(again) != "kind: Blueprint\n" {
		t.Errorf("the file was changed: %q, %v", again, err)
	}
	if _, err := tree.Stat("late"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the tree was changed: %v", err)
	}
	if entries, err := tree.ReadDir("."); err != nil || !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e != nil && e.Name() == "empty" }) {
		t.Errorf("the directory was changed: %v, %v", entries, err)
	}
}

// vandal changes what it is given to write.
type vandal struct{}

func (vandal) Write(p []byte) (int, error) { clear(p); return len(p), nil }

func TestClean(t *testing.T) {
	for name, want := range map[string]string{
		"a/b": "a/b", "/a/b/": "a/b", "./a//b": "a/b", "../../a": "a", "a/../../b": "b", "": ".", "/": ".", "..": ".",
	} {
		t.Run(name, func(t *testing.T) {
			if got := Clean(name); got != want || !fs.ValidPath(got) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestModes: nothing is writable, and only programs are executable.
func TestModes(t *testing.T) {
	tree := build(t, func(b *Builder) error {
		return errors.Join(sample(b), b.AddFile("bin/run", "#!/bin/sh\n"), b.MarkExecutable("bin/run"), b.AddCopy("run-too", "bin/run"))
	})
	for _, test := range []struct {
		reason, path string
		want         fs.FileMode
	}{
		{"a file", "blueprint.yaml", 0o444},
		{"a program", "bin/run", 0o555},
		{"another name of a program", "run-too", 0o555},
		{"a directory", "templates", fs.ModeDir | 0o555},
		{"a directory on the way", "bin", fs.ModeDir | 0o555},
		{"the root", ".", fs.ModeDir | 0o555},
		{"a link is looked through", "link.yaml", 0o444},
	} {
		t.Run(test.reason, func(t *testing.T) {
			info, err := tree.Stat(test.path)
			if err != nil || info.Mode() != test.want || !info.ModTime().IsZero() || info.Sys() != nil {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
	if info, err := tree.Lstat("link.yaml"); err != nil || info.Mode() != fs.ModeSymlink|0o777 {
		t.Errorf("a link itself: %v, %v", info, err)
	}
}

// TestWrongReads: what a caller hears who takes one thing for another.
func TestWrongReads(t *testing.T) {
	tree := build(t, sample)
	for _, test := range []struct {
		reason string
		read   func() error
		want   string
	}{
		{"a directory as a file", func() error { _, err := tree.ReadFile("templates"); return err }, "read templates: is a directory"},
		{"an open directory as a file", func() error {
			file, err := tree.Open("templates")
			if err != nil {
				return err
			}
			_, err = file.Read(make([]byte, 1))
			return err
		}, "read templates: is a directory"},
		{"a file as a directory", func() error { _, err := tree.ReadDir("blueprint.yaml"); return err }, "readdir blueprint.yaml: is not a directory"},
		{"a file that is not there", func() error { _, err := tree.Open("none"); return err }, "open none: file does not exist"},
		{"a directory that is not there", func() error { _, err := tree.ReadDir("none"); return err }, "readdir none: file does not exist"},
		{"the link of what is not there", func() error { _, err := tree.ReadLink("none"); return err }, "readlink none: file does not exist"},
		{"below a file", func() error { _, err := tree.Stat("blueprint.yaml/x"); return err }, "stat blueprint.yaml/x: is not a directory"},
		{"an absolute path", func() error { _, err := tree.Lstat("/blueprint.yaml"); return err }, "lstat /blueprint.yaml: invalid argument"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if err := test.read(); err == nil || err.Error() != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

// TestDirectoryInParts: who reads a directory in parts gets each entry once.
func TestDirectoryInParts(t *testing.T) {
	tree := build(t, sample)
	all, err := tree.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason string
		parts  []int
	}{
		{"the entries one by one", []int{1, 1, 1, 1, 1, 1}},
		{"more than there are", []int{100}},
		{"some, and then the rest", []int{2, -1}},
		{"two and two", []int{2, 2, 2}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			opened, err := tree.Open(".")
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, n := range test.parts {
				entries, err := opened.(fs.ReadDirFile).ReadDir(n)
				if err != nil && !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				for _, entry := range entries {
					names = append(names, entry.Name())
				}
			}
			if len(names) != len(all) || !slices.IsSorted(names) {
				t.Errorf("%q of %d", names, len(all))
			}
			if _, err := opened.(fs.ReadDirFile).ReadDir(1); !errors.Is(err, io.EOF) {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

// TestBuilderIsEmptyAfterwards: what was built does not count for the next tree.
func TestBuilderIsEmptyAfterwards(t *testing.T) {
	b := &Builder{Limits: Limits{Entries: 2, Bytes: 3}}
	for _, reason := range []string{"the first", "the second", "the third"} {
		t.Run(reason, func(t *testing.T) {
			if err := b.AddFile("d/f", "abc"); err != nil {
				t.Fatal(err)
			}
			if tree := b.Tree(); tree.Entries() != 2 || tree.Bytes() != 3 {
				t.Errorf("%d entries, %d bytes", tree.Entries(), tree.Bytes())
			}
		})
	}
}

// FuzzLinks: whatever links say, a path leads to something inside, or to an error.
func FuzzLinks(f *testing.F) {
	f.Add("a", "b/c", "d", "../a", "a/x")
	f.Add("l", ".", "l/l", "..", "l/l/l")
	f.Add("self", "self/self", "b", "self", "b")
	f.Add("d/up", "../f", "e", "d/up/..", "e/up")
	f.Fuzz(func(t *testing.T, first, to, second, toToo, asked string) {
		b := &Builder{Limits: Limits{Entries: 100, Bytes: 1 << 16}}
		if err := b.AddFile("f", "inside"); err != nil {
			t.Fatal(err)
		}
		_ = b.AddSymlink(first, to)
		_ = b.AddSymlink(second, toToo)
		tree := b.Tree()
		content, err := tree.ReadFile(asked)
		if err == nil && string(content) != "inside" {
			t.Errorf("%q leads to %q", asked, content)
		}
		if _, statErr := tree.Stat(asked); err == nil && statErr != nil {
			t.Errorf("%q can be read and not looked at: %v", asked, statErr)
		}
	})
}
