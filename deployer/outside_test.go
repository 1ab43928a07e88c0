package deployer_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"go.landscaper.dev/deployer"
)

// TestDocumentationCompiles builds all code of the documentation as another module
// does. A workspace of its own makes this module known to it, so that neither has
// a replacement in its go.mod.
func TestDocumentationCompiles(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "deployer-library.md"))
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	put(t, outside, "go.mod", "module acme.example/deployer\n\ngo 1.26.0\n")
	put(t, outside, "go.work", fmt.Sprintf("go 1.26.0\n\nuse (\n\t.\n\t%q\n)\n", root))
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != 3 {
		t.Fatalf("the page has %d blocks of code, want the deployer, the program and the test", len(blocks))
	}
	for i, block := range blocks {
		name := regexp.MustCompile(`(?m)^package (\w+)$`).FindStringSubmatch(block[1])
		if name == nil {
			t.Fatalf("block %d is no file:\n%s", i, block[1])
		}
		file := "code.go"
		if strings.HasSuffix(name[1], "_test") {
			file = "code_test.go"
		}
		put(t, outside, filepath.Join(strings.TrimSuffix(name[1], "_test"), file), block[1])
	}
	vet := exec.CommandContext(t.Context(), "go", "vet", "./...")
	vet.Dir = outside
	vet.Env = append(os.Environ(), "GOWORK=", "GOFLAGS=")
	if output, err := vet.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func put(t *testing.T, folder, name, content string) {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestSurface walks over everything that an outsider can reach from the library:
// each type of our internal packages in it must have a name here, because nobody
// outside can name it otherwise.
func TestSurface(t *testing.T) {
	named := map[reflect.Type]bool{}
	for _, known := range []reflect.Type{
		reflect.TypeFor[deployer.Clusters](), reflect.TypeFor[deployer.Connection](), reflect.TypeFor[deployer.Subscription](),
		reflect.TypeFor[deployer.State](), reflect.TypeFor[deployer.Error](), reflect.TypeFor[deployer.ApplyOptions](),
		reflect.TypeFor[deployer.Egress](), reflect.TypeFor[deployer.EgressTimeouts](),
		reflect.TypeFor[deployer.Order](), reflect.TypeFor[deployer.Line](), reflect.TypeFor[deployer.Membership](),
		reflect.TypeFor[deployer.Desk](),
	} {
		named[known] = true
	}
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type, string)
	walk = func(of reflect.Type, path string) {
		if seen[of] || len(path) > 500 {
			return
		}
		seen[of] = true
		ours := strings.HasPrefix(of.PkgPath(), "go.landscaper.dev/")
		if strings.HasPrefix(of.PkgPath(), "go.landscaper.dev/internal/") && !named[of] {
			t.Errorf("%s is %s, which has no name outside", path, of)
		}
		if of.PkgPath() == "" || ours {
			for _, part := range parts(of) {
				walk(part.of, path+part.name)
			}
		}
		if ours && of.Kind() != reflect.Interface {
			for _, method := range methods(reflect.PointerTo(of)) {
				walk(method.of, path+method.name)
			}
		}
	}
	for _, root := range []any{
		deployer.Add, deployer.NewClusters, deployer.Done, deployer.WaitFor, deployer.Final, deployer.Waiting, deployer.OutcomeOf,
		deployer.ConfigurationError, deployer.HandOver, &deployer.Item{}, &deployer.Options{}, &deployer.Clusters{}, &deployer.Connection{}, &deployer.Error{},
	} {
		walk(reflect.TypeOf(root), fmt.Sprintf("%T", root))
	}
	if !seen[reflect.TypeFor[deployer.State]()] || !seen[reflect.TypeFor[deployer.Deployer]()] {
		t.Error("the walk did not come far")
	}
}

// part is a type that is reached from another one.
type part struct {
	name string
	of   reflect.Type
}

// parts are the types that a type is made of, as far as they are visible.
func parts(of reflect.Type) []part {
	var found []part
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan:
		return []part{{"", of.Elem()}}
	case reflect.Map:
		return []part{{"[key]", of.Key()}, {"[]", of.Elem()}}
	case reflect.Func:
		for i := range of.NumIn() {
			found = append(found, part{fmt.Sprintf("(in %d)", i), of.In(i)})
		}
		for i := range of.NumOut() {
			found = append(found, part{fmt.Sprintf("(out %d)", i), of.Out(i)})
		}
	case reflect.Struct:
		for i := range of.NumField() {
			if field := of.Field(i); field.IsExported() {
				found = append(found, part{"." + field.Name, field.Type})
			}
		}
	case reflect.Interface:
		return methods(of)
	}
	return found
}

func methods(of reflect.Type) []part {
	var found []part
	for i := range of.NumMethod() {
		found = append(found, part{"." + of.Method(i).Name, of.Method(i).Type})
	}
	return found
}
