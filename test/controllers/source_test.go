// Package controllers holds the controllers to one shape: what steers them, how much a reconciler holds,
// and that one loop drives them. The figures of docs/testing.md come from here.
package controllers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// heart are the directories of the controllers and of what they share.
var heart = []string{"internal/controller", "internal/runtime", "internal/model", "deployer"}

// source is a file that is no test.
type source struct {
	dir  string
	file *ast.File
}

// sources parses the files of some directories, and of those in them.
func sources(t *testing.T, directories ...string) (all []source) {
	t.Helper()
	set := token.NewFileSet()
	for _, directory := range directories {
		err := filepath.WalkDir(filepath.Join(root, directory), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			dir, err := filepath.Rel(root, filepath.Dir(name))
			all = append(all, source{filepath.ToSlash(dir), file})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// functions calls visit for each function of a file.
func (s source) functions(visit func(*ast.FuncDecl)) {
	for _, declared := range s.file.Decls {
		if function, is := declared.(*ast.FuncDecl); is && function.Body != nil {
			visit(function)
		}
	}
}

// receiver returns the name of the type of a method, or "".
func receiver(function *ast.FuncDecl) string {
	if function.Recv == nil || len(function.Recv.List) == 0 {
		return ""
	}
	return strings.TrimPrefix(types.ExprString(function.Recv.List[0].Type), "*")
}
