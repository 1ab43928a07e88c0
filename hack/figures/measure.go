package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"
)

// file is what is measured of one file.
type file struct {
	name, dir, pkg  string
	generated, test bool
	lines           int
	// code and comments are lines that have any; blank lines count nowhere.
	code, comments int
	functions      []function
	undocumented   int
	// text has the lines that can be repetitions, with where they stand.
	text []line
}

// function is what is measured of a function.
type function struct {
	name            string
	lines, branches int
	// isTest says that it is a test, rows that its rows run as tests of their own.
	isTest, rows bool
	// tester is the parameter of type *testing.T; helpers are the functions of the same
	// package that get this parameter.
	tester  string
	helpers []string
}

// line is a line of code without its indentation.
type line struct {
	text   string
	number int
}

// measure reads a file.
func measure(name, text string) (file, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, parser.ParseComments)
	if err != nil {
		return file{}, fmt.Errorf("read %s: %w", name, err)
	}
	m := file{
		name: name, dir: path.Dir(name), pkg: path.Dir(name) + " " + parsed.Name.Name, generated: ast.IsGenerated(parsed),
		test: strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "test/"),
	}
	commented := map[int]bool{}
	for _, group := range parsed.Comments {
		for number := files.Position(group.Pos()).Line; number <= files.Position(group.End()).Line; number++ {
			commented[number] = true
		}
	}
	lastImport := 0
	for _, spec := range parsed.Imports {
		lastImport = files.Position(spec.End()).Line
	}
	for number, content := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		m.read(line{strings.TrimSpace(content), number + 1}, commented[number+1], number+1 <= lastImport)
	}
	for _, declaration := range parsed.Decls {
		m.declare(files, declaration)
	}
	return m, nil
}

// read counts a line.
func (m *file) read(l line, commented, inImports bool) {
	m.lines++
	switch {
	case l.text == "":
		return
	case commented && (strings.HasPrefix(l.text, "//") || strings.HasPrefix(l.text, "/*")):
		m.comments++
		return
	}
	m.code++
	if !inImports && strings.ContainsFunc(l.text, func(r rune) bool { return !strings.ContainsRune("(){}[],; \t", r) }) {
		m.text = append(m.text, l)
	}
}

// declare measures a declaration.
func (m *file) declare(files *token.FileSet, declaration ast.Decl) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			m.undocumented++
		}
		made := function{name: d.Name.Name, tester: tester(d), branches: 1, lines: files.Position(d.End()).Line - files.Position(d.Pos()).Line + 1}
		made.isTest = strings.HasSuffix(m.name, "_test.go") && d.Recv == nil && strings.HasPrefix(d.Name.Name, "Test") && d.Name.Name != "TestMain"
		ast.Inspect(d, func(node ast.Node) bool { return made.see(node) })
		m.functions = append(m.functions, made)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && s.Doc == nil && d.Doc == nil {
				m.undocumented++
			}
		}
	}
}

// see counts the branches of a function, and looks for rows.
func (f *function) see(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
		f.branches++
	case *ast.CaseClause:
		if n.List != nil {
			f.branches++
		}
	case *ast.CommClause:
		if n.Comm != nil {
			f.branches++
		}
	case *ast.BinaryExpr:
		if n.Op == token.LAND || n.Op == token.LOR {
			f.branches++
		}
	case *ast.CallExpr:
		f.call(n)
	}
	return true
}

// call looks whether a row is run, and by whom.
func (f *function) call(n *ast.CallExpr) {
	switch called := n.Fun.(type) {
	case *ast.SelectorExpr:
		if called.Sel.Name == "Run" && len(n.Args) == 2 {
			_, literal := n.Args[1].(*ast.FuncLit)
			_, named := n.Args[1].(*ast.Ident)
			_, made := n.Args[1].(*ast.CallExpr)
			f.rows = f.rows || literal || named || made
		}
	case *ast.Ident:
		if f.tester != "" && slices.ContainsFunc(n.Args, f.isTester) {
			f.helpers = append(f.helpers, called.Name)
		}
	}
}

func (f *function) isTester(argument ast.Expr) bool {
	name, ok := argument.(*ast.Ident)
	return ok && name.Name == f.tester
}

// tester returns the name of the parameter of type *testing.T, or "". A method does not
// count: calls of it may be calls of any type that has such a method.
func tester(d *ast.FuncDecl) string {
	if d.Recv != nil {
		return ""
	}
	for _, parameter := range d.Type.Params.List {
		pointer, ok := parameter.Type.(*ast.StarExpr)
		if !ok || len(parameter.Names) == 0 {
			continue
		}
		if kind, ok := pointer.X.(*ast.SelectorExpr); ok && kind.Sel.Name == "T" {
			return parameter.Names[0].Name
		}
	}
	return ""
}

// exportedReceiver reports whether a function, or the type that it is a method of, can be
// seen from outside.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	kind := d.Recv.List[0].Type
	if pointer, ok := kind.(*ast.StarExpr); ok {
		kind = pointer.X
	}
	if generic, ok := kind.(*ast.IndexExpr); ok {
		kind = generic.X
	}
	name, ok := kind.(*ast.Ident)
	return ok && name.IsExported()
}
