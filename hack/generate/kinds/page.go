package kinds

import (
	"bytes"
	"fmt"
	"go/ast"
	"reflect"
	"slices"
	"strings"
)

// page collects what a page says: the types that it begins with, and all that their fields have.
type page struct {
	source *source
	title  string
	out    bytes.Buffer
	// order are the types of the page, and names their headings.
	order []*typeDecl
	names map[*typeDecl]string
}

// use returns the heading of a type that gets a section.
func (p *page) use(t *typeDecl) string {
	if name, known := p.names[t]; known {
		return name
	}
	name := t.name
	if slices.ContainsFunc(p.order, func(other *typeDecl) bool { return p.names[other] == name }) {
		// Two packages have a type of the name.
		name += " of " + strings.ReplaceAll(strings.TrimPrefix(t.pkg.folder, "api/"), "/", " ")
	}
	p.names[t], p.order = name, append(p.order, t)
	return name
}

// sections writes the types of the page, and those that their fields have.
func (p *page) sections() error {
	for i := 0; i < len(p.order); i++ {
		t := p.order[i]
		p.out.WriteString("\n")
		// The title of the page may be the heading.
		if p.names[t] != p.title {
			fmt.Fprintf(&p.out, "## %s\n\n", p.names[t])
		}
		if t.comment.text != "" {
			p.out.WriteString(escaped(t.comment.text) + "\n")
		}
		if err := p.section(t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

func (p *page) section(t *typeDecl) error {
	if structure, ok := t.expr.(*ast.StructType); ok {
		rows, err := p.rows(t, structure)
		if err != nil || len(rows) == 0 {
			return err
		}
		p.out.WriteString("\n| field | type | meaning |\n|---|---|---|\n")
		for _, row := range rows {
			p.out.WriteString(row)
		}
		return nil
	}
	text, err := p.typeText(t, t.expr)
	if err != nil {
		return err
	}
	fmt.Fprintf(&p.out, "\nType: %s\n", text)
	if len(t.values) > 0 {
		p.out.WriteString("\n| value | meaning |\n|---|---|\n")
		for _, v := range t.values {
			fmt.Fprintf(&p.out, "| `%s` | %s |\n", v.text, cell(v.comment))
		}
	}
	return nil
}

// rows are the fields of a structure, those of embedded ones in their place.
func (p *page) rows(t *typeDecl, structure *ast.StructType) ([]string, error) {
	var rows []string
	for _, field := range structure.Fields.List {
		name, inline := jsonName(field)
		if name == "-" || name == "" && !inline {
			continue
		}
		if inline {
			more, err := p.embedded(t, field)
			if err != nil {
				return nil, err
			}
			rows = append(rows, more...)
			continue
		}
		text, err := p.typeText(t, field.Type)
		if err != nil {
			return nil, err
		}
		said := read(field.Doc)
		words := []string{cell(said.text)}
		if said.required {
			words = append([]string{"**Required.**"}, words...)
		}
		for _, fact := range said.facts {
			words = append(words, fmt.Sprintf("%s: `%s`.", fact.text, strings.ReplaceAll(fact.comment, "|", `\|`)))
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |\n", name, text, strings.TrimSpace(strings.Join(words, " "))))
	}
	return rows, nil
}

// embedded are the fields of an embedded structure.
func (p *page) embedded(t *typeDecl, field *ast.Field) ([]string, error) {
	expr := field.Type
	if pointer, ok := expr.(*ast.StarExpr); ok {
		expr = pointer.X
	}
	if written(expr) == "metav1.TypeMeta" {
		return []string{"| `apiVersion`, `kind` | string | **Required.** The version and the kind, as above. |\n"}, nil
	}
	inside, err := p.source.resolve(t, expr)
	if err != nil {
		return nil, err
	}
	if inside == nil {
		return nil, fmt.Errorf("the embedded %s is not known", written(expr))
	}
	structure, ok := inside.expr.(*ast.StructType)
	if !ok {
		return nil, fmt.Errorf("the embedded %s is not a structure", inside.name)
	}
	return p.rows(inside, structure)
}

// jsonName returns the name of a field on the wire, and whether its fields stand in its place.
func jsonName(field *ast.Field) (name string, inline bool) {
	if field.Tag == nil {
		return "", false
	}
	tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
	name, options, _ := strings.Cut(tag, ",")
	return name, name == "" && slices.Contains(strings.Split(options, ","), "inline") || name == "" && len(field.Names) == 0
}

// foreign are types of Kubernetes, as the page names them.
var foreign = map[string]string{
	"metav1.Time": "time", "metav1.MicroTime": "time", "metav1.Duration": "duration", "metav1.ObjectMeta": "metadata of Kubernetes",
	"runtime.RawExtension": "any JSON value", "json.RawMessage": "any JSON value", "intstr.IntOrString": "number or string",
	"time.Duration": "duration",
}

// typeText says what a value is.
func (p *page) typeText(t *typeDecl, expr ast.Expr) (string, error) {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return p.typeText(t, expr.X)
	case *ast.ArrayType:
		if element, ok := expr.Elt.(*ast.Ident); ok && element.Name == "byte" {
			return "base64", nil
		}
		inside, err := p.typeText(t, expr.Elt)
		return "list of " + inside, err
	case *ast.MapType:
		inside, err := p.typeText(t, expr.Value)
		return "map of " + inside, err
	case *ast.Ident, *ast.SelectorExpr:
		found, err := p.source.resolve(t, expr)
		if err != nil {
			return "", err
		}
		if found != nil {
			name := p.use(found)
			return fmt.Sprintf("[%s](#%s)", name, strings.ReplaceAll(strings.ToLower(name), " ", "-")), nil
		}
		return plain(expr)
	case *ast.InterfaceType:
		return "any JSON value", nil
	}
	return "", fmt.Errorf("there is no word for the type %T", expr)
}

// plain names a type that has no section.
func plain(expr ast.Expr) (string, error) {
	name := written(expr)
	if known := foreign[name]; known != "" {
		return known, nil
	}
	switch name {
	case "string", "any":
		return name, nil
	case "bool":
		return "true or false", nil
	case "int", "int32", "int64", "uint", "uint32", "uint64", "float64":
		return "number", nil
	}
	if strings.Contains(name, ".") {
		return "`" + name[strings.Index(name, ".")+1:] + "` of Kubernetes", nil
	}
	return "", fmt.Errorf("there is no word for the type %s", name)
}

// written is an expression as it is written.
func written(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.Ident:
		return expr.Name
	case *ast.SelectorExpr:
		return written(expr.X) + "." + expr.Sel.Name
	}
	return fmt.Sprintf("%T", expr)
}

// cell is a text of a comment for a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(escaped(text)), " "), "|", `\|`)
}

// escaped keeps words in angle brackets from being taken for HTML.
func escaped(text string) string { return strings.ReplaceAll(text, "<", "&lt;") }
