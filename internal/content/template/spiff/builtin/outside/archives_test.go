package outside_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.landscaper.dev/test/language"
)

// unpacked lists the files of an archive as "name mode content".
func unpacked(t *testing.T, encoded any, zipped bool) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(encoded.(string))
	if err != nil {
		t.Fatal(err)
	}
	var in io.Reader = bytes.NewReader(raw)
	if zipped {
		if in, err = gzip.NewReader(in); err != nil {
			t.Fatal(err)
		}
	}
	var list []string
	for r := tar.NewReader(in); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return strings.Join(list, "|")
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if !header.ModTime.Equal(header.ModTime.Truncate(1)) || header.ModTime.Unix() != 0 {
			t.Errorf("%s has the time %v", header.Name, header.ModTime)
		}
		list = append(list, fmt.Sprintf("%s %o %s", header.Name, header.Mode, content))
	}
}

func TestArchive(t *testing.T) {
	tests := []struct{ reason, files, want string }{
		{"contents by path, in the order of the paths", `{"b"="2", "a/c"="1"}`, "a/c 644 1|b 644 2"},
		{"no files", `{}`, ""},
		{"an empty file", `{"a"=""}`, "a 644 "},
		{"numbers are text", `{"a"=1}`, "a 644 1"},
		{"lists are YAML", `{"a"=["x"]}`, "a 644 - x\n"},
		{"data with a mode", `{"a"={"data"="x", "mode"=493}}`, "a 755 x"},
		{"base64 with line breaks", `{"a"={"base64"="eHl\n6"}}`, "a 644 xyz"},
		{"another path", `{"a"={"data"="x", "path"="b/c"}}`, "b/c 644 x"},
		{"a list of files", `[{"path"="b", "data"="1"}, {"path"="a", "data"="2"}]`, "b 644 1|a 644 2"},
		{"a list of maps of files", `[{"b"="1"}, {"a"="2"}]`, "b 644 1|a 644 2"},
		{"no way out of the archive", `{"../../etc/passwd"="x", "/abs"="y"}`, "etc/passwd 644 x|abs 644 y"},
		{"names outside of ASCII", `{"ä/漢"="x"}`, "ä/漢 644 x"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			for _, kind := range []string{"", `, "tar"`, `, "targz"`} {
				encoded, err := language.Language{}.Process(t, "archive("+test.files+kind+")")
				if err != nil {
					t.Fatal(err)
				}
				if got := unpacked(t, encoded, strings.Contains(kind, "gz")); got != test.want {
					t.Errorf("%s: %q, want %q", kind, got, test.want)
				}
			}
		})
	}
	language.Language{}.Gives(t, []language.Row{
		{"equal files give equal archives", `archive({"a"="x"}, "targz") == archive([{"path"="a", "data"="x"}], "targz")`, `true`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"an unknown kind", `archive({}, "zip")`, `unknown kind "zip", known are tar and targz`},
		{"a text is no set of files", `archive("a")`, "argument 1 must be a map or a list of maps"},
		{"a list of texts is no set of files", `archive(["a"])`, "argument 1 must be a map or a list of maps"},
		{"a file without content", `archive({"a"={"mode"=1}})`, `file "a" needs the field data or base64`},
		{"what is not base64", `archive({"a"={"base64"="!"}})`, `file "a" needs the field data or base64`},
		{"a file without a name", `archive({""="x"})`, "a file needs a path"},
		{"the root is not a name", `archive({"/.."="x"})`, "a file needs a path"},
	})
}
