package kinds

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// module is the import path of the tree that is read.
const module = "go.landscaper.dev/"

// source reads Go packages of the API by their folders.
type source struct {
	root     string
	packages map[string]*pkg
}

// pkg is a package with its types.
type pkg struct {
	// folder is where it is, and imports are the folders or paths of imports by their names in a file.
	folder string
	types  map[string]*typeDecl
}

// typeDecl is a type with its comment.
type typeDecl struct {
	pkg     *pkg
	name    string
	comment comment
	expr    ast.Expr
	imports map[string]string
	// values are the constants of a type that is a text.
	values []value
}

// value is a constant with its comment.
type value struct{ text, comment string }

func (s *source) pkg(folder string) (*pkg, error) {
	if known := s.packages[folder]; known != nil {
		return known, nil
	}
	files, err := filepath.Glob(filepath.Join(s.root, folder, "*.go"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there is no package in %s: %w", folder, err)
	}
	p := &pkg{folder: folder, types: map[string]*typeDecl{}}
	s.packages[folder] = p
	var consts []*ast.GenDecl
	for _, name := range files {
		if base := filepath.Base(name); strings.HasSuffix(base, "_test.go") || strings.HasPrefix(base, "zz_") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		consts = append(consts, p.add(file)...)
	}
	for _, decl := range consts {
		p.addValues(decl)
	}
	return p, nil
}

// add takes the types of a file, and returns its constants.
func (p *pkg) add(file *ast.File) (consts []*ast.GenDecl) {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		full := strings.Trim(spec.Path.Value, `"`)
		name := path.Base(full)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = full
	}
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		if general.Tok == token.CONST {
			consts = append(consts, general)
		}
		for _, spec := range general.Specs {
			if spec, ok := spec.(*ast.TypeSpec); ok {
				text := spec.Doc
				if text == nil {
					text = general.Doc
				}
				p.types[spec.Name.Name] = &typeDecl{pkg: p, name: spec.Name.Name, comment: read(text), expr: spec.Type, imports: imports}
			}
		}
	}
	return consts
}

func (p *pkg) addValues(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		spec, ok := spec.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			continue
		}
		ident, typed := spec.Type.(*ast.Ident)
		literal, isText := spec.Values[0].(*ast.BasicLit)
		if typed && isText && literal.Kind == token.STRING && p.types[ident.Name] != nil && spec.Names[0].IsExported() {
			of := p.types[ident.Name]
			said := read(spec.Doc).text
			of.values = append(of.values, value{strings.Trim(literal.Value, `"`), strings.TrimPrefix(said, spec.Names[0].Name+" ")})
		}
	}
}

// comment is a comment without its markers.
type comment struct {
	text     string
	required bool
	// facts are what markers say about values, such as "default": "3".
	facts []value
}

// marked are the markers that a reader wants to know of, by what the page says.
var marked = map[string]string{
	"+kubebuilder:default": "Default", "+kubebuilder:validation:Enum": "One of", "+kubebuilder:validation:Minimum": "Minimum",
	"+kubebuilder:validation:Maximum": "Maximum", "+kubebuilder:validation:MinLength": "Shortest", "+kubebuilder:validation:MaxLength": "Longest",
	"+kubebuilder:validation:MinItems": "Fewest", "+kubebuilder:validation:MaxItems": "Most", "+kubebuilder:validation:Pattern": "Pattern",
}

func read(group *ast.CommentGroup) (c comment) {
	if group == nil {
		return c
	}
	var words []string
	for line := range strings.Lines(group.Text()) {
		line = strings.TrimSpace(line)
		if line == "+required" {
			c.required = true
		}
		if !strings.HasPrefix(line, "+") {
			words = append(words, line)
			continue
		}
		name, text, _ := strings.Cut(line, "=")
		if title := marked[name]; title != "" && text != "{}" {
			c.facts = append(c.facts, value{title, strings.ReplaceAll(strings.Trim(text, "`\""), ";", ", ")})
		}
	}
	c.text = strings.TrimSpace(strings.Join(words, "\n"))
	return c
}

// known reports whether the types of an import are shown: those of the API, and those of files for landscapes
// without a cluster.
func known(path string) bool {
	return strings.HasPrefix(path, module+"api") || strings.HasPrefix(path, module+"internal/local/")
}

// resolve returns the type that an expression names, nil if it is of another library.
func (s *source) resolve(from *typeDecl, expr ast.Expr) (*typeDecl, error) {
	switch expr := expr.(type) {
	case *ast.Ident:
		return from.pkg.types[expr.Name], nil
	case *ast.SelectorExpr:
		ident, ok := expr.X.(*ast.Ident)
		if !ok || !known(from.imports[ident.Name]) {
			return nil, nil
		}
		other, err := s.pkg(strings.TrimPrefix(from.imports[ident.Name], module))
		if err != nil {
			return nil, err
		}
		return other.types[expr.Sel.Name], nil
	}
	return nil, nil
}
