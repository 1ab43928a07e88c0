package chart

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"go.landscaper.dev/internal/content/component/archive"
)

// file is an entry of an archive; of type TypeReg if none is given.
type file struct {
	name, text string
	kind       byte
	link       string
}

// pack packs files as charts are packed.
func pack(t testing.TB, files ...file) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	writer := tar.NewWriter(zip)
	for _, f := range files {
		kind := f.kind
		if kind == 0 {
			kind = tar.TypeReg
		}
		header := &tar.Header{Name: f.name, Typeflag: kind, Linkname: f.link, Size: int64(len(f.text)), Mode: 0o644}
		if err := writer.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(writer, f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(writer.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func about(name string) string { return "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n" }

// simple is a chart of the least files, and more.
func simple(t testing.TB, name string, more ...file) []byte {
	t.Helper()
	return pack(t, append([]file{{name: name + "/Chart.yaml", text: about(name)}}, more...)...)
}

// shape is what two charts are compared by.
type shape struct {
	Metadata         *helmchart.Metadata
	Lock             *helmchart.Lock
	Values           map[string]any
	Schema           string
	Templates, Files map[string]string
	Below            []shape
}

func shapeOf(c *helmchart.Chart) shape {
	s := shape{Metadata: c.Metadata, Lock: c.Lock, Values: c.Values, Schema: string(c.Schema), Templates: map[string]string{}, Files: map[string]string{}}
	for _, f := range c.Templates {
		s.Templates[f.Name] = string(f.Data)
	}
	for _, f := range c.Files {
		s.Files[f.Name] = string(f.Data)
	}
	for _, below := range c.Dependencies() {
		s.Below = append(s.Below, shapeOf(below))
	}
	slices.SortFunc(s.Below, func(a, b shape) int { return strings.Compare(a.Metadata.Name, b.Metadata.Name) })
	return s
}

// TestLoadsAsHelmDoes compares charts with what Helm's own loader makes of them.
func TestLoadsAsHelmDoes(t *testing.T) {
	for _, test := range []struct {
		reason string
		packed []byte
	}{
		{"a chart of one file", simple(t, "web")},
		{"templates, values of two documents, a schema, definitions and other files", simple(t, "web",
			file{name: "web/values.yaml", text: "a: {b: 1}\n---\na: {c: 2}\n"}, file{name: "web/values.schema.json", text: "{}"},
			file{name: "web/templates/a.yaml", text: "kind: A"}, file{name: "web/templates/deep/b.tpl", text: "{{ .Values.a }}"},
			file{name: "web/crds/c.yaml", text: "kind: C"}, file{name: "web/README.md", text: "# Web"}, file{name: "web/Chart.lock", text: "digest: x\n"})},
		{"the directory has another name than the chart", pack(t, file{name: "dir/Chart.yaml", text: about("web")})},
		{"a byte order mark is not part of the text", pack(t, file{name: "web/Chart.yaml", text: "\xef\xbb\xbf" + about("web")})},
		{"directories have entries of their own", pack(t, file{name: "web/", kind: tar.TypeDir}, file{name: "web/Chart.yaml", text: about("web")})},
		{"a chart in a directory, with its own chart as an archive", simple(t, "web",
			file{name: "web/charts/db/Chart.yaml", text: about("db")}, file{name: "web/charts/db/values.yaml", text: "x: y"},
			file{name: "web/charts/db/charts/backup-1.0.0.tgz", text: string(simple(t, "backup", file{name: "backup/templates/b.yaml", text: "b"}))})},
		{"an archive whose chart has the name of a directory beside it", simple(t, "web",
			file{name: "web/charts/db/Chart.yaml", text: about("db")}, file{name: "web/charts/db-2.tgz", text: string(simple(t, "db"))})},
		{"hidden and disabled charts do not count, signatures are files", simple(t, "web",
			file{name: "web/charts/_old/Chart.yaml", text: about("old")}, file{name: "web/charts/.git/x", text: "x"},
			file{name: "web/charts/db-1.0.0.tgz.prov", text: "signed"})},
		{"the old form of dependencies", pack(t, file{name: "web/Chart.yaml", text: "name: web\nversion: 1.0.0\n"},
			file{name: "web/requirements.yaml", text: "dependencies: [{name: db, version: 1.0.0, repository: 'file://../db'}]"}, file{name: "web/requirements.lock", text: "digest: x\n"})},
		{"a file that is there twice has its last content", pack(t, file{name: "web/Chart.yaml", text: about("old")}, file{name: "web/Chart.yaml", text: about("web")})},
	} {
		t.Run(test.reason, func(t *testing.T) {
			want, err := loader.LoadArchive(bytes.NewReader(test.packed))
			if err != nil {
				t.Fatalf("Helm: %v", err)
			}
			got, err := unpack(t.Context(), test.packed)
			if err != nil {
				t.Errorf("%v", err)
				return
			}
			wanted, _ := json.Marshal(shapeOf(want))
			if found, _ := json.Marshal(shapeOf(got)); string(found) != string(wanted) {
				t.Errorf("got\n%s\nwant\n%s", found, wanted)
			}
		})
	}
}

func zeros(size int) string { return strings.Repeat("\x00", size) }

// noise is text that does not compress well.
func noise(size int) string {
	var out strings.Builder
	for state := uint64(1); out.Len() < size; {
		state = state*6364136223846793005 + 1442695040888963407
		_, _ = fmt.Fprintf(&out, "%x", state)
	}
	return out.String()
}

// nested puts a chart into a chart so many times.
func nested(t testing.TB, times int) []byte {
	t.Helper()
	packed := simple(t, "web")
	for range times {
		packed = simple(t, "web", file{name: "web/charts/web.tgz", text: string(packed)})
	}
	return packed
}

func manyCharts(t testing.TB, number int, content string) []byte {
	t.Helper()
	files := []file{{name: "web/Chart.yaml", text: about("web")}}
	below := string(simple(t, "db", file{name: "db/fill", text: content}))
	for i := range number {
		files = append(files, file{name: fmt.Sprintf("web/charts/db-%d.tgz", i), text: below})
	}
	return pack(t, files...)
}

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	_, err := io.WriteString(zip, text)
	if err = errors.Join(err, zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// manyDirectories has charts whose archives are large, though they hold little.
func manyDirectories(t testing.TB, number int) []byte {
	t.Helper()
	directories := []file{{name: "db/Chart.yaml", text: about("db")}}
	for i := range 9_000 {
		directories = append(directories, file{name: fmt.Sprintf("db/%d/", i), kind: tar.TypeDir})
	}
	below := string(pack(t, directories...))
	files := []file{{name: "web/Chart.yaml", text: about("web")}}
	for i := range number {
		files = append(files, file{name: fmt.Sprintf("web/charts/db-%d.tgz", i), text: below})
	}
	return pack(t, files...)
}

// manyTexts has charts with large values each.
func manyTexts(t testing.TB, number int) []byte {
	t.Helper()
	values := "a: " + strings.Repeat("x", 160_000) + "\n"
	files := []file{{name: "web/Chart.yaml", text: about("web")}}
	for i := range number {
		files = append(files, file{name: fmt.Sprintf("web/charts/%d/Chart.yaml", i), text: about("db")}, file{name: fmt.Sprintf("web/charts/%d/values.yaml", i), text: values})
	}
	return pack(t, files...)
}

func TestRefusesWhatIsNoChart(t *testing.T) {
	manyFiles := []file{{name: "web/Chart.yaml", text: about("web")}}
	for i := range archive.DefaultLimits().Files {
		manyFiles = append(manyFiles, file{name: fmt.Sprintf("web/files/%d", i)})
	}
	for _, test := range []struct {
		reason string
		packed []byte
		want   string
	}{
		{"nothing", nil, "not an archive, or has no files"},
		{"a page", []byte("\n<!doctype html><html>Login</html>"), "page of HTML"},
		{"a text", []byte("not found"), "read the archive"},
		{"half of an archive", simple(t, "web")[:60], "unexpected EOF"},
		{"an archive that is compressed twice, which would evade the counting", zipped(t, string(simple(t, "web"))), "read the archive"},
		{"no description", pack(t, file{name: "web/values.yaml"}), "Chart.yaml file is missing"},
		{"no version", pack(t, file{name: "web/Chart.yaml", text: "apiVersion: v2\nname: web\n"}), "version is required"},
		{"a name that is a path", pack(t, file{name: "web/Chart.yaml", text: about("../web")}), "name"},
		{"a path out of the archive", simple(t, "web", file{name: "web/../../etc/passwd"}), "refused for safety"},
		{"a link", simple(t, "web", file{name: "web/templates/x", kind: tar.TypeSymlink, link: "/etc/passwd"}), "refused for safety"},
		{"a hard link", simple(t, "web", file{name: "web/templates/x", kind: tar.TypeLink, link: "web/Chart.yaml"}), "refused for safety"},
		{"a device", simple(t, "web", file{name: "web/x", kind: tar.TypeChar}), "refused for safety"},
		{"a link in a chart in the chart", simple(t, "web", file{name: "web/charts/db.tgz", text: string(simple(t, "db", file{name: "db/x", kind: tar.TypeSymlink, link: "/"}))}), "charts/db.tgz"},
		{"a file beside the chart", simple(t, "web", file{name: "README"}), "beside the directory of the chart"},
		{"no chart among charts", simple(t, "web", file{name: "web/charts/README.md"}), "neither a directory nor an archive"},
		{"a bomb of zeros", simple(t, "web", file{name: "web/x", text: zeros(65 << 20)}), "too large"},
		{"a bomb that is not large", simple(t, "web", file{name: "web/x", text: zeros(8 << 20)}), "ratio"},
		{"too many files", pack(t, manyFiles...), "number of files"},
		{"many charts that are small each and large together", manyCharts(t, 70, noise(1<<16)+zeros(1<<20)), "too large"},
		{"many charts of directories alone, which are no files", manyDirectories(t, 30), "too large"},
		{"too many charts", manyCharts(t, maxCharts, ""), "the number of charts"},
		{"charts too deep in each other", nested(t, maxNesting+1), "the depth of charts in charts"},
		{"a short text that becomes a large one", simple(t, "web", file{name: "web/values.yaml",
			text: "a: &a " + noise(1<<16) + "\nb: [" + strings.TrimSuffix(strings.Repeat("*a,", 1000), ",") + "]\n"}), "values.yaml: line 1, column 4: with its aliases"},
		{"aliases of aliases", simple(t, "web", file{name: "web/Chart.lock",
			text: "a: &a [1,1,1,1,1,1,1,1,1]\n" + strings.Join(layers(), "\n")}), "Chart.lock: "},
		{"many texts that are small each and large together", manyTexts(t, 60), "values.yaml: the size of all values"},
		{"a chart of the future", pack(t, file{name: "web/Chart.yaml", text: "apiVersion: v3\nname: web\nversion: 1.0.0\n"}), `apiVersion "v3" is not known`},
		{"too many values", simple(t, "web", file{name: "web/values.yaml", text: "a: [" + strings.Repeat("1,", 300_000) + "1]"}), "values.yaml: "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := unpack(t.Context(), test.packed)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func layers() []string {
	var lines []string
	for c := 'b'; c < 'm'; c++ {
		lines = append(lines, fmt.Sprintf("%c: &%c [%s]", c, c, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", c-1), 9), ",")))
	}
	return lines
}

// TestBombIsCheap checks that a bomb is refused early: of the 439 MiB in it, little more is
// unpacked than the limit. A clock would show that on an idle machine only.
func TestBombIsCheap(t *testing.T) {
	bomb := manyCharts(t, maxCharts-1, zeros(900<<10))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := unpack(t.Context(), bomb)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; err == nil || used > 300<<20 {
		t.Errorf("%d bytes: %v after %d MiB", len(bomb), err, used>>20)
	}
}

func TestMissingChartsAreReported(t *testing.T) {
	description := about("web") + "dependencies: [{name: db, version: 1.0.0, repository: 'file://../db'}, {name: cache, version: 1.0.0}]\n"
	loaded, err := unpack(t.Context(), pack(t, file{name: "web/Chart.yaml", text: description}, file{name: "web/charts/cache/Chart.yaml", text: about("cache")}))
	if err != nil {
		t.Fatal(err)
	}
	if got := missing(loaded); len(got) != 1 || !strings.Contains(got[0], "depends on chart db, which it does not hold") {
		t.Errorf("got %q", got)
	}
}
