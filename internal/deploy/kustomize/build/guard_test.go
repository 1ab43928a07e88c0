package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// guarding is a guard of a source.
func guarding(t *testing.T, from files) *guard {
	t.Helper()
	return &guard{
		ctx: t.Context(), files: tree(t, from), to: filesys.MakeFsInMemory(),
		known: map[string]*part{}, placed: map[string]string{},
	}
}

// TestJoin: a path of a kustomization comes from a user.
func TestJoin(t *testing.T) {
	for _, test := range []struct{ reason, directory, name, want string }{
		{"beside it", "base", "a.yaml", "base/a.yaml"},
		{"beside it, said twice", "base", "././a.yaml", "base/a.yaml"},
		{"above it, and in the source", "overlays/one", "../../base", "base"},
		{"through a directory and back", "base", "x/../a.yaml", "base/a.yaml"},
		{"above the source, which finding it refuses", "base", "../../etc/passwd", "../etc/passwd"},
		{"separators of another system are letters", "base", `..\..\etc`, `base/..\..\etc`},
		{"dots that are no way up", "base", "...", "base/..."},
		{"spaces", "base", " ", "base/ "},
		{"nothing", "base", "", "!it is empty"},
		{"from the root", "base", "/etc/passwd", "!it must be relative"},
		{"many roots", "base", "//etc/passwd", "!it must be relative"},
		{"a null byte in the middle", "base", "a.yaml\x00.txt", "!it is not a path"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := join(test.directory, test.name)
			if wrong, isWrong := strings.CutPrefix(test.want, "!"); isWrong {
				if err == nil || !strings.Contains(err.Error(), wrong) {
					t.Errorf("%q, %v, want %q", got, err, wrong)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
		})
	}
}

func TestFind(t *testing.T) {
	g := guarding(t, files{"a.yaml": "x", "d/b.yaml": "x", "link": "->a.yaml", "dirlink": "->d", "d/up": "->../a.yaml"})
	for _, test := range []struct{ reason, name, want string }{
		{"a file", "a.yaml", ""},
		{"a file below", "d/b.yaml", ""},
		{"a directory", "d", ""},
		{"the source itself", ".", ""},
		{"a link", "link", "is a link"},
		{"a link on the way", "dirlink/b.yaml", `"dirlink" is a link`},
		{"a link at the end", "d/up", `"d/up" is a link`},
		{"nothing there", "c.yaml", "no such file"},
		{"nothing there, below", "d/c/e.yaml", "no such file"},
		{"a file as a directory", "a.yaml/b", "as if it were a directory"},
		{"above", "../a.yaml", "leads out of the source"},
		{"a path that is not cleaned", "d/../a.yaml", "leads out of the source"},
		{"from the root", "/a.yaml", "leads out of the source"},
		{"nothing", "", "leads out of the source"},
		{"a slash behind it", "d/", "leads out of the source"},
		{"bytes that are not UTF-8", "\xff", "leads out of the source"},
		{"a long one", strings.Repeat("d/", 100_000) + "x", "no such file"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := g.find(test.name)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%.200v, want %q", err, test.want)
			}
		})
	}
}

// TestMissing: an address gets the answer that files are wanted; a misspelt file does not.
func TestMissing(t *testing.T) {
	nothing := errors.New("there is no such file")
	for name, address := range map[string]bool{
		"https://example.org/a.yaml": true, "github.com/a/b": true, "git@example.org:a/b": true, "example.org:a/b": true, "base?ref=v1": true, "file:///etc": true,
		"a.yaml": false, "base/github.com": false, "github.community/a": false, "a/b@c": false, "a/b:c": false, "": false, "..": false,
	} {
		t.Run(name, func(t *testing.T) {
			answer := missing(name, nothing)
			if got := strings.Contains(answer.Error(), "it is an address"); got != address {
				t.Errorf("says %q", answer)
			}
			if !address && !errors.Is(answer, nothing) {
				t.Errorf("the reason is lost: %q", answer)
			}
		})
	}
}

// TestEndedJob: nothing is read when the job is over.
func TestEndedJob(t *testing.T) {
	g := guarding(t, files{"a": "x"})
	over, end := context.WithCancel(t.Context())
	end()
	g.ctx = over
	if _, err := g.text("a"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestOperations: the library quotes a JSON patch that it cannot read, so it gets none.
func TestOperations(t *testing.T) {
	for _, test := range []struct{ reason, patch, want string }{
		{"usual ones", `[{"op":"add","path":"/a","value":1},{"op":"remove","path":"/a"},{"op":"replace","path":"/a","value":null},{"op":"move","from":"/a","path":"/b"},{"op":"test","path":"/a","value":1}]`, ""},
		{"none", `[]`, ""},
		{"to grow", `[{"op":"copy","from":"/a","path":"/b"}]`, "operation 1: op copy is refused"},
		{"to grow, later", `[{"op":"remove","path":"/a"},{"op":"copy","from":"/a","path":"/b"}]`, "operation 2: op copy is refused"},
		{"an unknown operation", `[{"op":"hunter2hunter2","path":"/a"}]`, "operation 1: op does not exist"},
		{"in capitals", `[{"op":"Add","path":"/a"}]`, "op does not exist"},
		{"no word", `[{"path":"/a"}]`, "op does not exist"},
		{"a number as the word", `[{"op":1,"path":"/a"}]`, "op does not exist"},
		{"no path", `[{"op":"add","value":1}]`, "path must be a text"},
		{"a path that is a list", `[{"op":"add","path":["hunter2hunter2"]}]`, "path must be a text"},
		{"null as the path", `[{"op":"add","path":null}]`, "path must be a text"},
		{"a text in place of an operation", `["hunter2hunter2"]`, "operation 1 must be an object"},
		{"null in place of an operation", `[null]`, "operation 1 must be an object"},
		{"a list in place of an operation", `[[]]`, "operation 1 must be an object"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var operations []any
			if err := json.Unmarshal([]byte(test.patch), &operations); err != nil {
				t.Fatal(err)
			}
			err := checkOperations(operations)
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), word)) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// TestPlaced: whatever a file is called, the library gets a name of our own.
func TestPlaced(t *testing.T) {
	g := guarding(t, files{})
	seen := map[string]bool{}
	for _, file := range []string{"a.yaml", "a.yaml", "../../etc/passwd", "https://example.org/x", "kustomization.yaml", "漢\u202e\n", strings.Repeat("x", 10_000)} {
		name, err := g.place("k1", file, []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		if seen[name] || len(name) > 20 || strings.TrimLeft(name, "./fyaml0123456789") != "" {
			t.Errorf("%.40q becomes %q", file, name)
		}
		seen[name] = true
		if text, err := g.to.ReadFile("/k1/" + name); err != nil || string(text) != file {
			t.Errorf("%.40q: %v, the library reads %.40q", file, err, text)
		}
		if g.placed[name] != file {
			t.Errorf("messages call %q %.40q", name, g.placed[name])
		}
	}
}

// TestAlwaysTheSame: the objects come in the order of the kustomization, with the same hashes,
// however often they are built; an item that changed with each build would be deployed with each
// reconcile.
func TestAlwaysTheSame(t *testing.T) {
	from := files{"kustomization.yaml": "resources: [d.yaml, many]\nconfigMapGenerator: [{name: settings, literals: [b=1, a=2, c=3], files: [f.txt]}]\nlabels: [{pairs: {z: a, a: z, m: n}}]", "d.yaml": deployment, "f.txt": "text"}
	for i := range 20 {
		from[fmt.Sprintf("many/%d/a.yaml", i)] = strings.Replace(configMap, "name: a", fmt.Sprint("name: c", i), 1)
	}
	first, err := built(t, from, "{commonMetadata: {annotations: {b: x, a: y}}}")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		again, err := built(t, from, "{commonMetadata: {annotations: {b: x, a: y}}}")
		if diff := cmp.Diff(first, again); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
	}
}
