package reasons_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.landscaper.dev/internal/runtime/job/reasons"
)

const table = "go.landscaper.dev/internal/runtime/job/reasons"

// TestTable: every constant is explained once, in the order of the alphabet, in a line each.
func TestTable(t *testing.T) {
	explained := map[reasons.Reason]bool{}
	for _, group := range reasons.Table {
		last := ""
		for _, entry := range group.Explanations {
			reason := string(entry.Reason)
			if explained[entry.Reason] {
				t.Errorf("%s is explained twice", reason)
			}
			explained[entry.Reason] = true
			if strings.ToLower(reason) <= strings.ToLower(last) {
				t.Errorf("%s: %s stands before %s", group.Title, last, reason)
			}
			last = reason
			for _, text := range []string{entry.Meaning, entry.Remedy} {
				if text == "" || strings.ContainsAny(text, "\n|") || strings.HasSuffix(text, ".") {
					t.Errorf("%s: %q is not a line of the table", reason, text)
				}
			}
		}
	}
	read := compiled(t)
	pkg, err := read.From.Import(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pkg.Scope().Names() {
		if found, ok := pkg.Scope().Lookup(name).(*types.Const); ok {
			if text := constant.StringVal(found.Val()); !explained[reasons.Reason(text)] {
				t.Errorf("%s is not in the table: say what it means and what to do", name)
			}
		}
	}
}

// TestBothDirections: every reason that is written is one of the table, and every one of the table
// is written.
func TestBothDirections(t *testing.T) {
	read := compiled(t)
	used := map[string]bool{}
	for _, pkg := range read.Packages {
		for _, stray := range read.check(t, pkg, used) {
			t.Error(stray)
		}
	}
	pkg, err := read.From.Import(table)
	if err != nil {
		t.Fatal(err)
	}
	constants := 0
	for _, name := range pkg.Scope().Names() {
		if _, ok := pkg.Scope().Lookup(name).(*types.Const); ok {
			if constants++; !used[name] {
				t.Errorf("nothing writes %s: remove it from the table", name)
			}
		}
	}
	if constants < 100 {
		t.Errorf("the table has %d reasons", constants)
	}
}

// sources are packages as they are built, and the compiled form of what they import.
type sources struct {
	From     types.Importer
	Packages []source
	Files    *token.FileSet
}

type source struct {
	path  string
	files []string
}

// compiled returns the packages that write reasons into statuses and events.
func compiled(t *testing.T) *sources {
	t.Helper()
	read, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	return read
}

var listed = sync.OnceValues(func() (*sources, error) {
	command := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.DepOnly}}\t{{.Dir}}\t{{join .GoFiles \" \"}}\t{{join .Imports \" \"}}",
		"./internal/...", "./deployer/...")
	command.Dir = filepath.Join("..", "..", "..", "..")
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages: %w", err)
	}
	read, exports := &sources{Files: token.NewFileSet()}, map[string]string{}
	for line := range strings.Lines(string(output)) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		exports[fields[0]] = fields[1]
		imports := strings.Fields(fields[5])
		writes := slices.ContainsFunc(imports, func(path string) bool {
			return path == table || path == "go.landscaper.dev/internal/runtime/job" || path == "go.landscaper.dev/internal/runtime/reporter" || path == "k8s.io/client-go/tools/events"
		})
		if fields[2] == "true" || !writes || strings.HasSuffix(fields[0], "/testbuilders") {
			continue
		}
		pkg := source{path: fields[0]}
		for _, name := range strings.Fields(fields[4]) {
			pkg.files = append(pkg.files, filepath.Join(fields[3], name))
		}
		read.Packages = append(read.Packages, pkg)
	}
	read.From = importer.ForCompiler(read.Files, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	return read, nil
})

// check returns the reasons of a package that are not constants of the table, and notes those that
// are.
func (s *sources) check(t *testing.T, pkg source, used map[string]bool) []string {
	t.Helper()
	var files []*ast.File
	for _, name := range pkg.files {
		file, err := parser.ParseFile(s.Files, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return strays(t, s, pkg.path, files, used)
}

// borders are the packages that turn a text into a reason: the library has those of deployers of
// third parties, and the others take a reason from an object that was read.
var borders = []string{
	"go.landscaper.dev/deployer", "go.landscaper.dev/internal/runtime/job", "go.landscaper.dev/internal/runtime/reporter",
	table,
}

func strays(t *testing.T, s *sources, path string, files []*ast.File, used map[string]bool) (found []string) {
	t.Helper()
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: s.From}
	if _, err := config.Check(path, s.Files, files, info); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	report := func(at ast.Node, format string, args ...any) {
		found = append(found, s.Files.Position(at.Pos()).String()+": "+fmt.Sprintf(format, args...))
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if object := info.Uses[n]; path != table && object != nil && object.Pkg() != nil && object.Pkg().Path() == table {
					used[n.Name] = true
				}
			case *ast.BasicLit:
				if isReason(info.TypeOf(n)) && n.Value != `""` && path != table {
					report(n, "%s is written as a reason: use a constant of the table", n.Value)
				}
			case *ast.BinaryExpr:
				if compares(n) && path != table && (steers(info, n.X, n.Y) || steers(info, n.Y, n.X)) {
					report(n, "a reason is compared: let a property of the error decide, or derive it in wire.go")
				}
			case *ast.CallExpr:
				if converted := info.Types[n.Fun]; converted.IsType() && isReason(converted.Type) && !slices.Contains(borders, path) {
					report(n, "a text is made a reason: use a constant of the table")
				}
				if text := textReason(info, n); text != nil && !fromTable(info, text) {
					report(text, "the reason of an event or a warning is not one of the table")
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Reason" && (isField(info.Uses[key]) || isOfGardener(info.Uses[key])) && literal(info, n.Value) && !fromTable(info, n.Value) {
					report(n, "the reason of a status is not one of the table")
				}
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					selected, ok := left.(*ast.SelectorExpr)
					if ok && selected.Sel.Name == "Reason" && (isField(info.Uses[selected.Sel]) || isOfGardener(info.Uses[selected.Sel])) && len(n.Lhs) == len(n.Rhs) && literal(info, n.Rhs[i]) && !fromTable(info, n.Rhs[i]) {
						report(n, "the reason of a status is not one of the table")
					}
				}
			}
			return true
		})
	}
	return found
}

func isReason(of types.Type) bool {
	named, ok := of.(*types.Named)
	return ok && named.Obj().Name() == "Reason" && named.Obj().Pkg().Path() == table
}

func compares(n *ast.BinaryExpr) bool { return n.Op == token.EQL || n.Op == token.NEQ }

// steers reports whether a comparison is one of a reason with a certain one.
func steers(info *types.Info, one, other ast.Expr) bool {
	value := info.Types[other].Value
	if value == nil || value.Kind() != constant.String || constant.StringVal(value) == "" {
		return false
	}
	if isReason(info.TypeOf(one)) {
		return true
	}
	selected, ok := one.(*ast.SelectorExpr)
	return ok && selected.Sel.Name == "Reason" && isField(info.Uses[selected.Sel])
}

// isField reports whether an object is a reason of our API, or of an error of the library.
func isField(object types.Object) bool {
	field, ok := object.(*types.Var)
	if !ok || !field.IsField() || field.Pkg() == nil {
		return false
	}
	return slices.Contains([]string{"go.landscaper.dev/api/v1alpha1", "go.landscaper.dev/deployer", "go.landscaper.dev/internal/runtime/job"}, field.Pkg().Path())
}

// isOfGardener reports whether an object is a reason of a condition of the API of Gardener. Other
// controllers write such conditions as well: one may be compared.
func isOfGardener(object types.Object) bool {
	field, ok := object.(*types.Var)
	return ok && field.IsField() && field.Pkg() != nil && strings.HasPrefix(field.Pkg().Path(), "go.landscaper.dev/internal/controller/shootflux/")
}

// literal reports whether an expression is a constant text that is not empty.
func literal(info *types.Info, e ast.Expr) bool {
	value := info.Types[e].Value
	return value != nil && value.Kind() == constant.String && constant.StringVal(value) != ""
}

// fromTable reports whether a text comes from a reason.
func fromTable(info *types.Info, e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if ok && len(call.Args) == 1 {
		return isReason(info.TypeOf(call.Args[0]))
	}
	// A variable has what was put into it; the text itself is seen there.
	return !literal(info, e)
}

// textReason returns the argument of a call that is the reason of an event, or of a warning of the public
// library.
func textReason(info *types.Info, call *ast.CallExpr) ast.Expr {
	selected, ok := call.Fun.(*ast.SelectorExpr)
	switch {
	case !ok:
	case selected.Sel.Name == "Eventf" && len(call.Args) > 5:
		return call.Args[3]
	case selected.Sel.Name == "Warn" && len(call.Args) > 0 && info.TypeOf(call.Args[0]) != nil && !isReason(info.TypeOf(call.Args[0])):
		return call.Args[0]
	}
	return nil
}

// TestStrays: each way past the table is found.
func TestStrays(t *testing.T) {
	read := compiled(t)
	const head = `package x
import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)
var _, _, _, _ = v1alpha1.Condition{}, gardener.Condition{}, job.Settling, reasons.Waiting
`
	for _, test := range []struct {
		reason, code string
		strays       int
	}{
		{"a constant of the table", `var e = job.NewError("o", reasons.Waiting, "m")`, 0},
		{"a text", `var e = job.NewError("o", "Waiting", "m")`, 1},
		{"a text behind a function", `func f(r reasons.Reason) {}; func g() { f("x") }`, 1},
		{"a text that is a constant of another package", `const own reasons.Reason = "x"`, 1},
		{"no reason", `var e = job.NewError("o", "", "m")`, 0},
		{"a text that is made a reason", `func f(s string) error { return job.NewError("o", reasons.Reason(s), "m") }`, 1},
		{"a condition with a text", `var c = v1alpha1.Condition{Reason: "x"}`, 1},
		{"a condition with a constant of another package", `const own = "x"; var c = v1alpha1.Condition{Reason: own}`, 1},
		{"a condition with a reason", `var c = v1alpha1.Condition{Reason: string(reasons.Waiting)}`, 0},
		{"a condition with a phase", `func f(phase string) any { return v1alpha1.Condition{Reason: phase} }`, 0},
		{"a condition that gets a text", `func f(c *v1alpha1.Condition) { c.Reason = "x" }`, 1},
		{"a condition that decides by its text", `func f(c v1alpha1.Condition) bool { return c.Reason == "Waiting" }`, 1},
		{"a condition that decides by a reason", `func f(c v1alpha1.Condition) bool { return string(reasons.Waiting) != c.Reason }`, 1},
		{"an error that decides by its reason", `func f(e *job.Error) bool { return e.Reason == reasons.Waiting }`, 1},
		{"a warning of a deployer", `func f(i interface{ Warn(string, ...string) }) { i.Warn(string(reasons.Waiting)) }`, 0},
		{"a warning of a deployer with a text", `func f(i interface{ Warn(string, ...string) }) { i.Warn("x") }`, 1},
		{"a condition of Gardener with a text", `var c = gardener.Condition{Reason: "x"}`, 1},
		{"a condition of Gardener that gets a text", `func f(c *gardener.Condition) { c.Reason = "x" }`, 1},
		{"a condition of Gardener with a reason", `var c = gardener.Condition{Reason: string(reasons.Ready)}`, 0},
		{"a condition of another controller of Gardener", `func f(c gardener.Condition) bool { return c.Reason == "CannotReadSecret" }`, 0},
		{"two statuses that are the same", `func f(a, b v1alpha1.Error) bool { return a.Reason == b.Reason }`, 0},
		{"a status without a reason", `func f(a v1alpha1.Error) bool { return a.Reason == "" }`, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			file, err := parser.ParseFile(read.Files, "x.go", head+test.code, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if got := strays(t, read, "go.landscaper.dev/internal/x", []*ast.File{file}, map[string]bool{}); len(got) != test.strays {
				t.Errorf("%d strays: %v", len(got), got)
			}
		})
	}
}
