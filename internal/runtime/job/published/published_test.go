package published

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// operationAt is which argument of a function is the name of an operation.
var operationAt = map[string]int{"NewError": 0, "NewWaiting": 0, "Waiting": 0, "Wrap": 1, "WaitFor": 1, "awaiting": 1}

// strays returns the texts that a file gives as names of operations.
func strays(file *ast.File) (found []string) {
	note := func(e ast.Expr) {
		if literal, ok := e.(*ast.BasicLit); ok && literal.Value != `""` {
			found = append(found, literal.Value)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := ""
			switch called := n.Fun.(type) {
			case *ast.Ident:
				name = called.Name
			case *ast.SelectorExpr:
				name = called.Sel.Name
			}
			// An operation is followed by a reason, and mostly by a message.
			if at, ok := operationAt[name]; ok && len(n.Args) > at+2 {
				note(n.Args[at])
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Operation" {
				note(n.Value)
			}
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) && strings.EqualFold(strings.TrimPrefix(strings.TrimPrefix(name.Name, "init"), "build"), "operation") {
					note(n.Values[i])
				}
			}
		}
		return true
	})
	return found
}

// TestOneTable: no name of an operation is written anywhere else.
func TestOneTable(t *testing.T) {
	root := filepath.Join("..", "..", "..", "..")
	for _, directory := range []string{"internal/controller/installation", "internal/controller/execution", "internal/runtime/job", "internal/deploy", "internal/cluster", "deployer"} {
		t.Run(directory, func(t *testing.T) {
			err := filepath.WalkDir(filepath.Join(root, directory), func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
					return err
				}
				file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
				if err != nil {
					return err
				}
				for _, text := range strays(file) {
					t.Errorf("%s has the name of an operation %s: use the table of the package published", path, text)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestStrays: each way to write a name is found.
func TestStrays(t *testing.T) {
	for _, test := range []struct{ reason, code, want string }{
		{"an error of a step", `var e = job.Wrap(err, "x", "y", "z")`, `"x"`},
		{"a wait", `var e = job.WaitFor(wake, "x", "y", "z")`, `"x"`},
		{"a wait for progress names no operation", `var e = deployer.WaitFor("x", "y")`, ""},
		{"an error that is written as a struct", `var e = &Error{Operation: "x"}`, `"x"`},
		{"a constant of a package", `const initOperation = "x"`, `"x"`},
		{"a name of the table", `var e = job.Wrap(err, published.Init, "y", "z")`, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+test.code, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(strays(file), " "); got != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// marks returns for each constant of a file whether its group says whose name it is.
func marks(file *ast.File) map[string]bool {
	marked := map[string]bool{}
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		says := slices.ContainsFunc([]string{"Recorded: ", "Described: ", "Own: "}, func(whose string) bool {
			return strings.HasPrefix(group.Doc.Text(), whose)
		})
		for _, spec := range group.Specs {
			for _, name := range spec.(*ast.ValueSpec).Names {
				marked[name.Name] = says
			}
		}
	}
	return marked
}

// TestWhose: each name says whether it is one of upstream.
func TestWhose(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "published.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	all := marks(file)
	if len(all) == 0 {
		t.Error("the table is empty")
	}
	for name, says := range all {
		if !says {
			t.Errorf("nothing says whose name %s is: put it into the group of the table that it belongs to", name)
		}
	}
}

// TestMarks: a name outside of the groups is found.
func TestMarks(t *testing.T) {
	for _, test := range []struct {
		reason, code string
		says         bool
	}{
		{"a group that says so", "// Own: ours.\nconst (\n X = \"x\"\n)", true},
		{"a group without a comment", "const (\n X = \"x\"\n)", false},
		{"a comment that says something else", "// More names.\nconst X = \"x\"", false},
		{"a variable, which is not a name of the table", "// Own: ours.\nvar X = \"x\"", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+test.code, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if got := marks(file)["X"]; got != test.says {
				t.Errorf("got %t", got)
			}
		})
	}
}
