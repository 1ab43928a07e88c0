package kinds

import (
	"fmt"
	"go/ast"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// local is the version of files of landscapes without a cluster.
var local = schema.GroupVersion{Group: "local.landscaper.gardener.cloud", Version: "v1alpha1"}

// declaredSchema is the schema of a kind without a CRD.
func (s *source) declaredSchema(name string, spec spec, header bool) (writtenSchema, error) {
	types, err := s.pkg(spec.folder)
	if err != nil {
		return writtenSchema{}, err
	}
	root := types.types[spec.types[0]]
	if root == nil {
		return writtenSchema{}, fmt.Errorf("there is no type %s", spec.types[0])
	}
	d := &declaring{source: s, names: map[*typeDecl]string{}, definitions: object{}}
	made, err := d.structure(root)
	if err != nil {
		return writtenSchema{}, err
	}
	kind := spec.types[0]
	if spec.version == local {
		kind = spec.title
	}
	made["$schema"], made["title"] = dialect, kind
	properties := made["properties"].(object)
	properties["apiVersion"], properties["kind"] = object{"const": spec.version.String()}, object{"const": kind}
	if name == "blueprint" {
		// It is read under this name as well, which most authors know.
		properties["jsonSchema"] = properties["jsonSchemaVersion"]
	}
	if header {
		required, _ := made["required"].([]any)
		made["required"] = append([]any{"apiVersion", "kind"}, required...)
	}
	if len(d.definitions) > 0 {
		made["$defs"] = d.definitions
	}
	return writtenSchema{name, spec.version.String(), kind, made}, nil
}

// declaring collects the types of one schema.
type declaring struct {
	source      *source
	names       map[*typeDecl]string
	definitions object
}

// reference is a rule that leads to the definition of a type, and makes the definition if it does not exist yet.
func (d *declaring) reference(t *typeDecl) (object, error) {
	name, known := d.names[t]
	if !known {
		name = t.name
		if slices.Contains(slices.Collect(maps.Values(d.names)), name) {
			name += "Of" + strings.ReplaceAll(t.pkg.folder, "/", "")
		}
		d.names[t] = name
		made, err := d.definition(t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		d.definitions[name] = made
	}
	return object{"$ref": "#/$defs/" + name}, nil
}

// forms are types that read JSON in a way of their own.
var forms = map[string]object{
	"AnyJSON": {}, "JSONSchemaDefinition": {"type": []any{"object", "boolean"}}, "UnstructuredTypedObject": {"type": "object"},
	"Duration": {"type": "string", "description": "A duration such as 90s or 1h30m, or none for no limit."},
}

// closed are texts that have one of their constants; other texts may have further values.
var closed = []string{"ImportType", "ExportType", "TemplateType"}

func (d *declaring) definition(t *typeDecl) (object, error) {
	if form, special := forms[t.name]; special && t.pkg.folder == "api/v1alpha1" {
		return maps.Clone(form), nil
	}
	if _, ok := t.expr.(*ast.StructType); ok {
		return d.structure(t)
	}
	made, err := d.rule(t, t.expr)
	if err != nil {
		return nil, err
	}
	if len(t.values) > 0 {
		var known []any
		for _, v := range t.values {
			known = append(known, v.text)
		}
		made = object{"anyOf": []any{object{"enum": known}, object{"type": "string"}}}
		if slices.Contains(closed, t.name) {
			made = object{"enum": known}
		}
	}
	describe(made, t.comment.text)
	return made, nil
}

func describe(schema object, text string) {
	if text != "" {
		schema["description"] = plainText(text)
	}
}

// structure is the schema of a type with fields. Fields that it does not have are mistakes.
func (d *declaring) structure(t *typeDecl) (object, error) {
	properties := object{}
	required, err := d.fields(t, properties)
	if err != nil {
		return nil, err
	}
	made := object{"type": "object", "properties": properties, "additionalProperties": false}
	describe(made, t.comment.text)
	if len(required) > 0 {
		slices.Sort(required)
		names := make([]any, len(required))
		for i, name := range required {
			names[i] = name
		}
		made["required"] = names
	}
	return made, nil
}

// fields adds the fields of a structure, those of embedded ones included, and returns the names of those that
// are required.
func (d *declaring) fields(t *typeDecl, properties object) (required []string, err error) {
	structure, ok := t.expr.(*ast.StructType)
	if !ok {
		return nil, fmt.Errorf("the embedded %s is not a structure", t.name)
	}
	for _, field := range structure.Fields.List {
		name, inline := jsonName(field)
		if name == "-" || name == "" && !inline {
			continue
		}
		if inline {
			more, err := d.embedded(t, field, properties)
			if err != nil {
				return nil, err
			}
			required = append(required, more...)
			continue
		}
		made, err := d.rule(t, field.Type)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", name, err)
		}
		said := read(field.Doc)
		describe(made, said.text)
		properties[name] = made
		if said.required || !strings.HasPrefix(t.pkg.folder, "api/") && mustBeGiven(field) {
			required = append(required, name)
		}
	}
	return required, nil
}

// mustBeGiven reports whether a text is always written. Types that are not of the API have no markers.
func mustBeGiven(field *ast.Field) bool {
	tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
	return written(field.Type) == "string" && !strings.Contains(tag, ",")
}

func (d *declaring) embedded(t *typeDecl, field *ast.Field, properties object) ([]string, error) {
	expr := field.Type
	pointer, optional := expr.(*ast.StarExpr)
	if optional {
		expr = pointer.X
	}
	if written(expr) == "metav1.TypeMeta" {
		properties["apiVersion"], properties["kind"] = object{"type": "string"}, object{"type": "string"}
		return nil, nil
	}
	inside, err := d.source.resolve(t, expr)
	if err != nil || inside == nil {
		return nil, fmt.Errorf("the embedded %s is not known: %w", written(expr), err)
	}
	required, err := d.fields(inside, properties)
	if optional {
		return nil, err
	}
	return required, err
}

// foreignRules are types of Kubernetes and of the language.
var foreignRules = map[string]object{
	"string": {"type": "string"}, "bool": {"type": "boolean"}, "any": {},
	"int": {"type": "integer"}, "int32": {"type": "integer"}, "int64": {"type": "integer"}, "uint": {"type": "integer"}, "uint32": {"type": "integer"}, "uint64": {"type": "integer"}, "float64": {"type": "number"},
	"metav1.Time": {"type": "string"}, "metav1.MicroTime": {"type": "string"}, "metav1.Duration": {"type": "string"}, "time.Duration": {"type": "string"},
	"runtime.RawExtension": {"type": "object"}, "json.RawMessage": {}, "intstr.IntOrString": {"type": []any{"integer", "string"}},
}

// rule is the schema of a value.
func (d *declaring) rule(t *typeDecl, expr ast.Expr) (object, error) {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return d.rule(t, expr.X)
	case *ast.ArrayType:
		inside, err := d.rule(t, expr.Elt)
		return object{"type": "array", "items": inside}, err
	case *ast.MapType:
		inside, err := d.rule(t, expr.Value)
		return object{"type": "object", "additionalProperties": inside}, err
	case *ast.InterfaceType:
		return object{}, nil
	case *ast.Ident, *ast.SelectorExpr:
		found, err := d.source.resolve(t, expr)
		if err != nil {
			return nil, err
		}
		if found != nil {
			return d.reference(found)
		}
		name := written(expr)
		switch known := foreignRules[name]; {
		case known != nil:
			return maps.Clone(known), nil
		case name == "metav1.ObjectMeta":
			return metadata(), nil
		case strings.Contains(name, "."):
			return object{"type": "object"}, nil // another structure of Kubernetes
		}
	}
	return nil, fmt.Errorf("there is no schema for the type %s", written(expr))
}
