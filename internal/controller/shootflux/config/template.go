package config

import (
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"
)

// template is an object of Flux as far as it is configured. Its metadata and its spec always exist.
type template struct {
	object map[string]any
	field  string
	p      *problems
}

// readTemplate returns nil for a value that is not an object, and records the problem.
func readTemplate(raw *runtime.RawExtension, field string, p *problems) *template {
	written := map[string]any{}
	if raw == nil || len(raw.Raw) == 0 {
		p.add(field, "%s: write the object that Flux gets", missing)
		return nil
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw.Raw, &written); err != nil || written == nil {
		p.add(field, "must be an object")
		return nil
	}
	t := &template{object: map[string]any{}, field: field, p: p}
	good := true
	for _, part := range []string{"metadata", "spec"} {
		fields, isObject := written[part].(map[string]any)
		if written[part] != nil && !isObject {
			p.add(field+"."+part, "must be an object")
			good = false
		}
		if fields == nil {
			fields = map[string]any{}
		}
		t.object[part] = fields
	}
	for _, part := range []string{"apiVersion", "kind"} {
		t.object[part] = written[part]
		if written[part] == nil {
			delete(t.object, part)
		}
		t.text(part)
	}
	if !good {
		return nil
	}
	t.identity()
	return t
}

// identity keeps the metadata that users set, and drops the metadata of API servers.
func (t *template) identity() {
	metadata := t.fields("metadata")
	maps.DeleteFunc(metadata, func(name string, _ any) bool {
		return name != "name" && name != "namespace" && name != "labels" && name != "annotations"
	})
	for _, name := range []string{"labels", "annotations"} {
		if _, _, err := unstructured.NestedStringMap(metadata, name); err != nil {
			t.p.add(t.field+".metadata."+name, "must be an object of texts")
			delete(metadata, name)
		}
	}
	if name := t.text("metadata", "name"); name != "" && !isSubdomain(name) {
		t.p.add(t.path("metadata", "name"), needSubdomain)
	}
	if namespace := t.text("metadata", "namespace"); namespace != "" && !isLabel(namespace) {
		t.p.add(t.path("metadata", "namespace"), needLabel)
	}
}

func (t *template) path(fields ...string) string {
	path := t.field
	for _, field := range fields {
		path += "." + field
	}
	return path
}

// fields returns the object in a field, and creates it if it is missing.
func (t *template) fields(path ...string) map[string]any {
	fields := t.object
	for i, name := range path {
		inner, isObject := fields[name].(map[string]any)
		if !isObject {
			if fields[name] != nil {
				t.p.add(t.path(path[:i+1]...), "must be an object")
			}
			inner = map[string]any{}
			fields[name] = inner
		}
		fields = inner
	}
	return fields
}

// text returns the string in a field, "" if it is missing. Another type is recorded as a problem,
// and removed so that it is recorded once.
func (t *template) text(path ...string) string {
	fields, last := t.object, path[len(path)-1]
	for _, name := range path[:len(path)-1] {
		inner, isObject := fields[name].(map[string]any)
		if !isObject {
			return ""
		}
		fields = inner
	}
	text, isText := fields[last].(string)
	if !isText && fields[last] != nil {
		t.p.add(t.path(path...), "must be a text")
		delete(fields, last)
	}
	return text
}

// fill sets an empty field.
func (t *template) fill(value string, path ...string) {
	if value != "" && t.text(path...) == "" {
		t.fields(path[:len(path)-1]...)[path[len(path)-1]] = value
	}
}

// over returns a template with the fields of this one over those of a base. The fields of a
// revision belong together.
func (t *template) over(base *unstructured.Unstructured) *template {
	merged := merge(base.DeepCopy().Object, t.object)
	if ref, set := t.fields("spec")["ref"]; set {
		merged["spec"].(map[string]any)["ref"] = ref
	}
	return &template{object: merged, field: t.field, p: t.p}
}

func merge(base, over map[string]any) map[string]any {
	for name, value := range over {
		inner, isObject := value.(map[string]any)
		below, wasObject := base[name].(map[string]any)
		if isObject && wasObject {
			value = merge(below, inner)
		}
		base[name] = value
	}
	return base
}

func (t *template) interval() {
	if text := t.text("spec", "interval"); text != "" && !isDuration(text) {
		t.p.add(t.path("spec", "interval"), needDuration)
	}
	t.fill("1m", "spec", "interval")
}
