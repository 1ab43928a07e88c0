package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestSizesThatLeaveTheNumbers says in its headers that files are longer than numbers of
// 64 bits can sum up. A hole makes them without any content.
func TestSizesThatLeaveTheNumbers(t *testing.T) {
	limits := Limits{Bytes: 1 << 20, Files: 5, Ratio: 1 << 40, Depth: 4}
	records := fmt.Sprintf(" GNU.sparse.major=1\n GNU.sparse.minor=0\n GNU.sparse.name=sparse\n GNU.sparse.realsize=%d\n", int64(math.MaxInt64))
	var out bytes.Buffer
	writeRaw(&out, tar.TypeReg, "first", "x")
	writeRaw(&out, tar.TypeXHeader, "pax", sparseRecords(records))
	writeRaw(&out, tar.TypeReg, "sparse", fmt.Sprintf("1\n%d\n1\n", int64(math.MaxInt64-1))+strings.Repeat("\x00", 512-24)+"x")
	out.Write(make([]byte, 1024))
	for reason, read := range map[string]func(io.Reader) error{
		"into memory": func(content io.Reader) error { _, err := Unpack(content, limits); return err },
		"one by one": func(content io.Reader) error {
			return Walk(content, limits, func(e Entry) error {
				if e.Size > limits.Bytes {
					return fmt.Errorf("%s of %d bytes is passed", e.Path, e.Size)
				}
				return nil
			})
		},
		"decompressed by the caller": func(content io.Reader) error {
			return WalkTar(content, limits, func(e Entry) error {
				if e.Size > limits.Bytes {
					return fmt.Errorf("%s of %d bytes is passed", e.Path, e.Size)
				}
				return nil
			})
		},
	} {
		t.Run(reason, func(t *testing.T) {
			if err := read(bytes.NewReader(out.Bytes())); !isTooLarge(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestReadAll(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		reason  string
		content io.Reader
		limit   int64
		want    string
		is      func(error) bool
	}{
		{"as much as is allowed", strings.NewReader("abc"), 3, "abc", nil},
		{"nothing, of which nothing is allowed", strings.NewReader(""), 0, "", nil},
		{"one byte too many", strings.NewReader("abcd"), 3, "", isTooLarge},
		{"anything, where nothing is allowed", strings.NewReader("a"), 0, "", isTooLarge},
		{"without an end", zeros{}, 3, "", isTooLarge},
		{"what breaks off", io.MultiReader(strings.NewReader("ab"), failing{broken}), 3, "", func(err error) bool { return errors.Is(err, broken) }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := ReadAll(test.content, test.limit)
			if (err == nil) != (test.is == nil) || err != nil && !test.is(err) || string(got) != test.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestWalk(t *testing.T) {
	content := tarOf(t,
		tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": "x"}},
		file("b", 2), tar.Header{Typeflag: tar.TypeDir, Name: "d/"}, file("./a//c", 1), file("/abs", 0), file("b", 3))
	var visited []string
	err := Walk(bytes.NewReader(gzipped(t, content)), DefaultLimits(), func(e Entry) error {
		data, err := io.ReadAll(e.Content)
		visited = append(visited, fmt.Sprintf("%s %d", e.Path, len(data)))
		if int64(len(data)) != e.Size {
			t.Errorf("%s has %d bytes of %d", e.Path, len(data), e.Size)
		}
		return err
	})
	// A name may be there twice: it is up to the visitor which one counts.
	if want := []string{"b 2", "a/c 1", "abs 0", "b 3"}; err != nil || !slices.Equal(visited, want) {
		t.Errorf("got %q, %v", visited, err)
	}
	t.Run("a visitor that has seen enough", func(t *testing.T) {
		enough, calls := errors.New("enough"), 0
		if err := Walk(bytes.NewReader(content), DefaultLimits(), func(Entry) error { calls++; return enough }); !errors.Is(err, enough) || calls != 1 {
			t.Errorf("%d calls, %v", calls, err)
		}
	})
	t.Run("a visitor that does not read", func(t *testing.T) {
		calls := 0
		if err := Walk(bytes.NewReader(content), DefaultLimits(), func(Entry) error { calls++; return nil }); err != nil || calls != 4 {
			t.Errorf("%d calls, %v", calls, err)
		}
	})
	t.Run("an empty archive", func(t *testing.T) {
		if err := Walk(bytes.NewReader(tarOf(t)), DefaultLimits(), func(Entry) error { return errors.New("visited") }); err != nil {
			t.Error(err)
		}
	})
}

// TestNames reads archives with names that mean something elsewhere.
func TestNames(t *testing.T) {
	for _, test := range []struct{ reason, name, want string }{
		{"a name with a blank and a line break", "a b\nc", "a b\nc"},
		{"marks that turn the text around", "a\u202eb", "a\u202eb"},
		{"two dots inside of a name", "a..b/..c", "a..b/..c"},
		{"many slashes in front", "///a", "a"},
		{"dots on the way", "./a/./b", "a/b"},
		{"a long name", strings.Repeat("a", 300), strings.Repeat("a", 300)},
		{"upwards", "..", ""},
		{"upwards behind slashes", "//../a", ""},
		{"upwards at the end", "a/..", ""},
		{"a drive", `C:\a`, ""},
		{"text that is no UTF-8", "a\xff", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var got []string
			err := Walk(bytes.NewReader(tarOf(t, file(test.name, 0))), DefaultLimits(), func(e Entry) error { got = append(got, e.Path); return nil })
			if test.want == "" {
				if err == nil && len(got) > 0 && got[0] != "." {
					t.Errorf("it becomes %q", got)
				}
				return
			}
			if err != nil || len(got) != 1 || got[0] != test.want {
				t.Errorf("got %q, %v", got, err)
			}
			if _, err := Unpack(bytes.NewReader(tarOf(t, file(test.name, 0))), DefaultLimits()); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("a message shows a hostile name in one line", func(t *testing.T) {
		err := Walk(bytes.NewReader(tarOf(t, file("a\n\x1b[31m/../b", 0))), DefaultLimits(), func(Entry) error { return nil })
		if err == nil || strings.ContainsAny(err.Error(), "\n\x1b") || !errors.Is(err, ErrUnsafe) {
			t.Errorf("got %q", err)
		}
	})
}

func TestDecompress(t *testing.T) {
	for _, test := range []struct {
		reason, content, want string
		fails                 bool
	}{
		{"what is not compressed", "hello", "hello", false},
		{"nothing", "", "", false},
		{"one byte", "\x1f", "\x1f", false},
		{"gzip", string(gzipped(t, []byte("hello"))), "hello", false},
		{"two parts of gzip are one content", string(gzipped(t, []byte("a"))) + string(gzipped(t, []byte("b"))), "ab", false},
		{"gzip in gzip is unpacked once", string(gzipped(t, gzipped(t, []byte("x")))), string(gzipped(t, []byte("x"))), false},
		{"the beginning of gzip", "\x1f\x8b", "", true},
		{"gzip that is cut off", string(gzipped(t, []byte("hello")))[:12], "", true},
		{"gzip with another sum", strings.Replace(string(gzipped(t, []byte("hello"))), string(gzipped(t, []byte("hello"))[len(gzipped(t, []byte("hello")))-8:]), "\x00\x00\x00\x00\x05\x00\x00\x00", 1), "", true},
		{"the beginning of bzip2", "BZh", "", true},
		{"the beginning of xz", "\xfd7zXZ\x00", "", true},
		{"the beginning of zstd", "\x28\xb5\x2f\xfd", "", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := Inflate(strings.NewReader(test.content), DefaultLimits())
			if (err != nil) != test.fails || err == nil && string(got) != test.want {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
	t.Run("a content that cannot be read", func(t *testing.T) {
		broken := errors.New("broken")
		if _, err := Inflate(failing{broken}, DefaultLimits()); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
}

func TestPackTree(t *testing.T) {
	roomy := Limits{Bytes: 100, Files: 10}
	for _, test := range []struct {
		reason string
		tree   fstest.MapFS
		limits Limits
		want   string // names with their modes
		is     func(error) bool
	}{
		{"in the order of names, with directories", fstest.MapFS{"b": {}, "a/c": {}}, roomy, "a/ 755 a/c 644 b 644", nil},
		{"of permissions only that a file is a program", fstest.MapFS{"a": {Mode: 0o700}, "b": {Mode: 0o600}, "c": {Mode: 0o001}}, roomy, "a 755 b 644 c 755", nil},
		{"nothing", fstest.MapFS{}, roomy, "", nil},
		{"as much as is allowed", fstest.MapFS{"a": {Data: []byte("12")}, "b": {Data: []byte("3")}}, Limits{Bytes: 3, Files: 2}, "a 644 b 644", nil},
		{"one byte more than the files may have", fstest.MapFS{"a": {Data: []byte("12")}, "b": {Data: []byte("34")}}, Limits{Bytes: 3, Files: 2}, "", isTooLarge},
		{"a file more", fstest.MapFS{"a": {}, "b": {}, "c": {}}, Limits{Bytes: 3, Files: 2}, "", isTooLarge},
		{"directories count", fstest.MapFS{"a/b/c": {}}, Limits{Bytes: 3, Files: 2}, "", isTooLarge},
		{"a device", fstest.MapFS{"a": {Mode: fs.ModeDevice}}, roomy, "", func(err error) bool { return strings.Contains(err.Error(), "a is not a regular file") }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var out bytes.Buffer
			err := PackTree(&out, test.tree, test.limits)
			if (err == nil) != (test.is == nil) || err != nil && !test.is(err) {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				return
			}
			var names []string
			for reader := tar.NewReader(&out); ; {
				header, err := reader.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if header.Uid != 0 || header.Uname != "" || header.ModTime.Unix() > 0 {
					t.Errorf("it reveals the machine: %+v", header)
				}
				names = append(names, fmt.Sprintf("%s %o", header.Name, header.Mode))
			}
			if got := strings.Join(names, " "); got != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
}
