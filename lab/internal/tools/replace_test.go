package tools

import (
	"archive/zip"
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// publish makes the modules greet and cloud, the only ones that the go command knows.
func publish(t *testing.T) {
	t.Helper()
	proxy := t.TempDir()
	for module, files := range map[string]map[string]string{
		"example.com/greet": {
			"go.mod":    "module example.com/greet\n\ngo 1.26\n\nrequire example.com/cloud v1.0.0\n",
			"greet.go":  "package greet\n\nfunc Greet() string { return hello + from() }\n\nconst hello = \"hello from \"\n",
			"from.go":   "package greet\n\nimport \"example.com/cloud\"\n\nfunc from() string { return cloud.Name }\n",
			"a_test.go": "package greet\n",
		},
		"example.com/cloud": {"go.mod": "module example.com/cloud\n\ngo 1.26\n", "cloud.go": "package cloud\n\nconst Name = \"a cloud\"\n"},
	} {
		var archive bytes.Buffer
		writer := zip.NewWriter(&archive)
		for name, content := range files {
			file, err := writer.Create(module + "@v1.0.0/" + name)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := file.Write([]byte(content)); err != nil {
				t.Fatal(err)
			}
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(proxy, module, "@v")
		write(t, filepath.Join(at, "list"), "v1.0.0\n")
		write(t, filepath.Join(at, "v1.0.0.info"), `{"Version": "v1.0.0"}`)
		write(t, filepath.Join(at, "v1.0.0.mod"), files["go.mod"])
		write(t, filepath.Join(at, "v1.0.0.zip"), archive.String())
	}
	t.Setenv("GOPROXY", "file://"+proxy)
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Cleanup(func() { runGo(t, proxy, "clean", "-modcache") }) // its files cannot be deleted otherwise
}

func runGo(t *testing.T, directory string, args ...string) {
	t.Helper()
	command := exec.Command("go", args...)
	command.Dir = directory
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, output)
	}
}

// TestLean builds a program whose module is downloaded for it.
func TestLean(t *testing.T) {
	shop, said := newWorkshop(t)
	publish(t)
	module := filepath.Join(shop.Sources, "tiny")
	write(t, filepath.Join(module, "go.mod"), "module example.com/tiny\n\ngo 1.26\n\nrequire example.com/greet v1.0.0\n")
	write(t, filepath.Join(module, "main.go"), "package main\n\nimport \"example.com/greet\"\n\nfunc main() { println(greet.Greet()) }\n")
	runGo(t, module, "mod", "tidy")
	write(t, filepath.Join(module, "_lean", "example.com", "greet", "from.go"), "package greet\n\nfunc from() string { return \"nowhere\" }\n")
	tool := tiny
	tool.Lean = []string{"example.com/greet"}
	ensure := func(lean bool) string {
		t.Helper()
		shop.Lean = lean
		built, err := shop.Ensure(t.Context(), tool)
		if err != nil {
			t.Fatal(err)
		}
		return runTool(t, built.Program("tiny"))
	}
	if got := ensure(true); got != "hello from nowhere" {
		t.Errorf("the lean program says %q", got)
	}
	ensure(true)
	if built := strings.Count(said(), "built tiny"); built != 1 {
		t.Errorf("the lean program was built %d times:\n%s", built, said())
	}
	write(t, filepath.Join(module, "_lean", "example.com", "cloud", "go.mod"), "module example.com/cloud\n\ngo 1.26\n")
	write(t, filepath.Join(module, "_lean", "example.com", "cloud", "ours.go"), "package cloud\n\nconst Name = \"a lean cloud\"\n")
	tool.Lean = []string{"example.com/cloud"}
	if got := ensure(true); got != "hello from a lean cloud" {
		t.Errorf("with a whole module in the place of another one, the program says %q", got)
	}
	for _, lean := range []bool{false, true} { // a full program that is there is preferred
		if got := ensure(lean); got != "hello from a cloud" {
			t.Errorf("lean=%v: the full program says %q", lean, got)
		}
	}
	if left, err := filepath.Glob(filepath.Join(shop.Directory, ".building-*")); err != nil || len(left) > 0 {
		t.Errorf("%v are left (%v)", left, err)
	}
}

// TestReplacedPackage replaces a file in every build, and a whole package.
func TestReplacedPackage(t *testing.T) {
	shop, _ := newWorkshop(t)
	publish(t)
	module := filepath.Join(shop.Sources, "tiny")
	write(t, filepath.Join(module, "go.mod"), "module example.com/tiny\n\ngo 1.26\n\nrequire example.com/greet v1.0.0\n\nreplace (\n\texample.com/greet => example.com/greet v1.0.0\n)\n")
	write(t, filepath.Join(module, "main.go"), "package main\n\nimport \"example.com/greet\"\n\nfunc main() { println(greet.Greet()) }\n")
	runGo(t, module, "mod", "tidy")
	tool := tiny
	tool.Replaced = []string{"example.com/greet"}
	for _, test := range []struct{ reason, file, content, want string }{
		{"one file", "from.go", "package greet\n\nfunc from() string { return \"a file\" }\n", "hello from a file"},
		{"the file is another one", "from.go", "package greet\n\nfunc from() string { return \"another file\" }\n", "hello from another file"},
		{"a file of the whole package has another name", "all.go", "package greet\n\nfunc Greet() string { return \"good day\" }\n", "good day"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			directory := filepath.Join(module, "_replaced", "example.com", "greet")
			if test.file == "all.go" {
				write(t, filepath.Join(directory, whole), "")
				write(t, filepath.Join(directory, "from.go"), "package greet\n")
			}
			write(t, filepath.Join(directory, test.file), test.content)
			built, err := shop.Ensure(t.Context(), tool)
			if err != nil {
				t.Fatal(err)
			}
			if got := runTool(t, built.Program("tiny")); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestReplacingFiles: files that nothing would read belong to a module that has another name
// by now.
func TestReplacingFiles(t *testing.T) {
	read := map[string]bool{}
	for _, tool := range All() {
		for _, replaced := range tool.lean().replacements() {
			directory := filepath.Join("../..", tool.Module, replaced.directory)
			read[directory] = true
			if !exists(directory) {
				t.Errorf("%s: there are no files for module %s", tool.Name, replaced.module)
			}
		}
	}
	for _, kind := range []string{"_replaced", "_lean"} {
		roots, err := filepath.Glob("../../*/" + kind)
		if err != nil || len(roots) == 0 {
			t.Fatalf("%s: %v", kind, err)
		}
		for _, root := range roots {
			err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
				switch {
				case err != nil:
					return err
				case read[path]:
					return fs.SkipDir
				case !entry.IsDir():
					t.Errorf("nothing reads %s", path)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestAdmissionPlugins: the API server of a lab has the plugins that are on by default, in
// their order.
func TestAdmissionPlugins(t *testing.T) {
	const file = "pkg/kubeapiserver/options/plugins.go"
	shop := Workshop{Sources: "../..", Directory: t.TempDir()}
	output, err := shop.run(t.Context(), ControlPlane, "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes")
	if err != nil {
		t.Fatal(err)
	}
	text, plugins := pluginsIn(t, filepath.Join(strings.TrimSpace(output), file))
	_, on, _ := strings.Cut(text, "defaultOnPlugins := ")
	before, _, _ := strings.Cut(text, "defaultOnPlugins := ")
	byDefault := plugins(on)
	var want []string
	for _, plugin := range plugins(before) {
		if slices.Contains(byDefault, plugin) {
			want = append(want, plugin)
		}
	}
	ours, plugins := pluginsIn(t, filepath.Join("../../controlplane/_replaced/k8s.io/kubernetes", file))
	if got := plugins(ours); len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("the plugins are\n%s\nby default they are\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// pluginsIn reads a file, and returns a function that finds the plugins in a part of it, by
// their packages.
func pluginsIn(t *testing.T, file string) (text string, plugins func(part string) []string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, content, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{}
	for _, imported := range parsed.Imports {
		path := strings.Trim(imported.Path.Value, `"`)
		name := filepath.Base(path)
		if imported.Name != nil {
			name = imported.Name.Name
		}
		paths[name] = path
	}
	return string(content), func(part string) (found []string) {
		for _, match := range regexp.MustCompile(`(?m)^\s+\{?(\w+)\.PluginName,`).FindAllStringSubmatch(part, -1) {
			found = append(found, paths[match[1]])
		}
		return found
	}
}
