package deployer_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestPublicTypes: other modules can name each type that the public packages show, because none is
// one of an internal package. What the compiler has written for those who import the packages is
// looked at, so nothing is missed.
func TestPublicTypes(t *testing.T) {
	compiled, public := map[string]string{}, []string{}
	for line := range strings.Lines(list(t, "-export", "-deps", "-f", "{{.ImportPath}} {{.DepOnly}} {{.Export}}", "./deployer", "./api/...")) {
		if fields := strings.Fields(line); len(fields) == 3 {
			compiled[fields[0]] = fields[2]
			if fields[1] == "false" {
				public = append(public, fields[0])
			}
		}
	}
	if !slices.Contains(public, "go.landscaper.dev/deployer") || !slices.Contains(public, "go.landscaper.dev/api/helm/v1alpha1") {
		t.Fatalf("the public packages are %v", public)
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(compiled[path]) })
	for _, path := range public {
		found, err := from.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, mention := range internalsOf(found) {
			t.Error(mention)
		}
	}
}

// TestInternalsOf: no way to show a type of an internal package is overlooked.
func TestInternalsOf(t *testing.T) {
	hidden := check(t, "a.example/internal/hidden", nil, `
type T struct{ X int }
type I interface{ M() }
type C string
type G[P any] struct{ P P }`)
	for _, test := range []struct {
		reason, code string
		want         int
	}{
		{"an alias", `type A = hidden.T`, 1},
		{"an alias of a type that is made of one", `type A = []*hidden.T`, 1},
		{"a type that is made of one", `type A map[string]hidden.T`, 1},
		{"a field", `type S struct{ F hidden.T }`, 1},
		{"an unexported field", `type S struct{ f hidden.T }`, 0},
		{"an embedded field", `type S struct{ *hidden.T }`, 1},
		{"a field of an embedded type without a name outside", `type s struct{ F hidden.T }; type S struct{ s }`, 1},
		{"a parameter", `func F(hidden.T) {}`, 1},
		{"a result", `func F() (hidden.I, error) { return nil, nil }`, 1},
		{"a variadic parameter", `func F(...hidden.T) {}`, 1},
		{"a constraint", `func F[P hidden.I](P) {}`, 1},
		{"an unexported function", `func f(hidden.T) {}`, 0},
		{"a method", `type S struct{}; func (*S) M(hidden.T) {}`, 1},
		{"an unexported method", `type S struct{}; func (*S) m(hidden.T) {}`, 0},
		{"a method of an embedded type without a name outside", `type s struct{}; func (s) M(hidden.T) {}; type S struct{ *s }`, 1},
		{"a method of a type that a function returns", `type s struct{}; func (s) M(hidden.T) {}; func F() s { return s{} }`, 1},
		{"a method of an interface", `type I interface{ M(func(hidden.T)) }`, 1},
		{"an embedded interface", `type I interface{ hidden.I }`, 1},
		{"a constant", `const X hidden.C = "x"`, 1},
		{"a variable", `var X chan hidden.T`, 1},
		{"a type parameter", `type B[P any] struct{ P P }; var X B[hidden.T]`, 1},
		{"a conversion at the border", `type S struct{ X int }; func (s S) hide() hidden.T { return hidden.T(s) }`, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if found := internalsOf(check(t, "a.example/shown", hidden, test.code+"\nvar _ hidden.T")); len(found) != test.want {
				t.Errorf("found %q", found)
			}
		})
	}
}

// TestDependencies: users of the kinds need no client for them, and the author of a deployer needs
// none of the libraries that only our own deployers use.
func TestDependencies(t *testing.T) {
	heavy := []string{"helm.sh/", "github.com/go-git/", "sigs.k8s.io/kustomize/"}
	for _, test := range []struct {
		reason, packages string
		denied           []string
	}{
		{"kinds link no client, and nothing else of ours", "./api/...", append([]string{"k8s.io/client-go/", "sigs.k8s.io/controller-runtime/", "go.landscaper.dev/internal/", "go.landscaper.dev/deployer"}, heavy...)},
		{"a deployer links what it deploys with itself", "./deployer", heavy},
	} {
		t.Run(test.reason, func(t *testing.T) {
			needed := strings.Fields(list(t, "-deps", test.packages))
			if !slices.Contains(needed, "go.landscaper.dev/api/v1alpha1") {
				t.Fatalf("the packages are %v", needed)
			}
			for _, path := range needed {
				if slices.ContainsFunc(test.denied, func(prefix string) bool { return strings.HasPrefix(path+"/", prefix) }) {
					t.Errorf("%s needs %s", test.packages, path)
				}
			}
		})
	}
}

// list returns what "go list" says about packages of this module.
func list(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", append([]string{"list"}, arguments...)...)
	command.Dir = ".."
	output, err := command.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("%v: %s", command, failed.Stderr)
		}
		t.Fatal(err)
	}
	return string(output)
}

// check returns a package that may import another one.
func check(t *testing.T, path string, hidden *types.Package, code string) *types.Package {
	t.Helper()
	files, imports := token.NewFileSet(), ""
	if hidden != nil {
		imports = fmt.Sprintf("import %q\n", hidden.Path())
	}
	file, err := parser.ParseFile(files, "code.go", "package "+path[strings.LastIndex(path, "/")+1:]+"\n"+imports+code, 0)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := (&types.Config{Importer: only{hidden}}).Check(path, files, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return checked
}

// only imports one package.
type only struct{ known *types.Package }

// Import implements types.Importer.
func (o only) Import(string) (*types.Package, error) { return o.known, nil }

// internalsOf returns where a package shows types of internal packages.
func internalsOf(shown *types.Package) []string {
	w := &walk{in: shown, seen: map[types.Object]bool{}}
	for _, name := range shown.Scope().Names() {
		if object := shown.Scope().Lookup(name); object.Exported() {
			w.declaration(object)
		}
	}
	return w.found
}

// walk goes over everything that others see of a package.
type walk struct {
	in    *types.Package
	place []string
	seen  map[types.Object]bool
	found []string
}

// declaration looks at what is declared under a name.
func (w *walk) declaration(object types.Object) {
	if w.seen[object] {
		return
	}
	w.seen[object] = true
	w.place = append(w.place, object.Name())
	defer func() { w.place = w.place[:len(w.place)-1] }()
	switch declared := object.Type().(type) {
	case *types.Alias:
		w.uses(declared.Rhs())
	case *types.Named:
		if _, isType := object.(*types.TypeName); !isType {
			w.uses(declared)
			return
		}
		w.parameters(declared.TypeParams())
		w.uses(declared.Underlying())
		methods := types.NewMethodSet(types.NewPointer(declared))
		for i := range methods.Len() {
			// The methods of an embedded type belong to where that is declared.
			if method := methods.At(i).Obj(); method.Exported() && method.Pkg() == w.in {
				w.declaration(method)
			}
		}
	default:
		w.uses(declared)
	}
}

// named checks the use of a name. A type that other modules can reach, but not name, is checked
// with its fields and methods.
func (w *walk) named(name *types.TypeName) {
	if name.Pkg() == nil {
		return
	}
	if strings.Contains("/"+name.Pkg().Path()+"/", "/internal/") {
		w.found = append(w.found, strings.Join(append([]string{w.in.Path()}, w.place...), ".")+" shows "+name.Pkg().Path()+"."+name.Name())
	}
	if name.Pkg() == w.in && !name.Exported() {
		w.declaration(name)
	}
}

// uses looks at a type where it is used.
func (w *walk) uses(used types.Type) {
	switch used := used.(type) {
	case *types.Alias:
		w.named(used.Obj())
		w.arguments(used.TypeArgs())
	case *types.Named:
		w.named(used.Obj())
		w.arguments(used.TypeArgs())
	case *types.Map:
		w.uses(used.Key())
		w.uses(used.Elem())
	case interface{ Elem() types.Type }: // pointer, slice, array, channel
		w.uses(used.Elem())
	case *types.Signature:
		w.parameters(used.TypeParams())
		w.variables(used.Params())
		w.variables(used.Results())
	case *types.Struct:
		for field := range used.Fields() {
			if field.Exported() || field.Embedded() {
				w.uses(field.Type())
			}
		}
	case *types.Interface:
		for method := range used.ExplicitMethods() {
			w.uses(method.Type())
		}
		for embedded := range used.EmbeddedTypes() {
			w.uses(embedded)
		}
	case *types.Union:
		for term := range used.Terms() {
			w.uses(term.Type())
		}
	}
}

func (w *walk) arguments(list *types.TypeList) {
	for i := range list.Len() {
		w.uses(list.At(i))
	}
}

func (w *walk) parameters(list *types.TypeParamList) {
	for i := range list.Len() {
		w.uses(list.At(i).Constraint())
	}
}

func (w *walk) variables(list *types.Tuple) {
	for i := range list.Len() {
		w.uses(list.At(i).Type())
	}
}
