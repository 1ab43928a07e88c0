package kinds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"go.landscaper.dev/api/schemas"
)

// object is a JSON object; encoding sorts its keys.
type object = map[string]any

// written is a schema with what its documents begin with.
type writtenSchema struct {
	name, apiVersion, kind string
	schema                 object
}

const dialect = "https://json-schema.org/draft/2020-12/schema"

// declared are the schemas that are made from Go types, because there is no CRD.
var declared = []struct {
	name string
	spec spec
	// header says that documents must have apiVersion and kind.
	header bool
}{
	{"blueprint", core("blueprint", "Blueprint"), false},
	{"installationtemplate", core("installationtemplate", "InstallationTemplate"), false},
	{"helm", specNamed("helm"), true},
	{"kustomize", specNamed("kustomize"), true},
	{"manifest", specNamed("manifest"), true},
	{"manifest-v1alpha1", specNamed("manifest-v1alpha1"), true},
	{"container", specNamed("container"), true},
	{"mock", specNamed("mock"), true},
	{"fluxconfig", specNamed("fluxconfig"), true},
	{"locallandscape", spec{title: "LocalLandscape", folder: "internal/local/rules", version: local, types: []string{"Landscape"}}, true},
	{"landscapetest", spec{title: "LandscapeTest", folder: "internal/local/cases", version: local, types: []string{"Test"}}, true},
}

// specNamed returns the page of the reference with a name.
func specNamed(file string) spec {
	for _, s := range specs {
		if s.file == file {
			return s
		}
	}
	panic("there is no page " + file)
}

// WriteSchemas writes the JSON schemas of all kinds into a folder, and removes those that are not written any more.
func WriteSchemas(root, folder string) error {
	all, err := allSchemas(root)
	if err != nil {
		return err
	}
	folder = filepath.Join(root, folder)
	old, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return err // the pattern is valid
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil {
			return fmt.Errorf("remove an earlier schema: %w", err)
		}
	}
	for _, one := range append(all, choice(all)) {
		text, err := encoded(one.schema)
		if err != nil {
			return fmt.Errorf("encode the schema %s: %w", one.name, err)
		}
		if err := os.WriteFile(filepath.Join(folder, one.name+".json"), text, 0o644); err != nil {
			return fmt.Errorf("write the schema %s: %w", one.name, err)
		}
	}
	return nil
}

// encoded is the text of a schema. Words in angle brackets stay as they are.
func encoded(schema object) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(schema)
	return out.Bytes(), err
}

func allSchemas(root string) ([]writtenSchema, error) {
	var all []writtenSchema
	for _, folder := range []string{"api/crds", "api/delivery/crds", "api/fleet/crds"} {
		of, err := definedSchemas(filepath.Join(root, folder))
		if err != nil {
			return nil, err
		}
		all = append(all, of...)
	}
	s := &source{root: root, packages: map[string]*pkg{}}
	for _, one := range declared {
		made, err := s.declaredSchema(one.name, one.spec, one.header)
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", one.name, err)
		}
		all = append(all, made)
	}
	configure(all)
	return all, nil
}

// configure lets the schema of a DeployItem choose that of its configuration.
func configure(all []writtenSchema) {
	var rules []any
	for _, one := range all {
		if one.kind == "ProviderConfiguration" {
			rules = append(rules, one.chosen(one.name+".json"))
		}
	}
	for _, one := range all {
		if one.name == "deployitem" {
			spec := one.schema["properties"].(object)["spec"].(object)
			config := spec["properties"].(object)["config"].(object)
			config["allOf"] = rules
		}
	}
}

// chosen is a rule that applies another schema to documents of its kind.
func (w writtenSchema) chosen(reference string) object {
	return object{
		"if":   object{"properties": object{"apiVersion": object{"const": w.apiVersion}, "kind": object{"const": w.kind}}, "required": []any{"apiVersion", "kind"}},
		"then": object{"$ref": reference},
	}
}

// choice is the schema that chooses among all others. Documents of other kinds are no matter of it.
func choice(all []writtenSchema) writtenSchema {
	var rules []any
	for _, one := range all {
		rules = append(rules, one.chosen(one.name+".json"))
	}
	return writtenSchema{name: schemas.Any, schema: object{
		"$schema": dialect, "title": "Landscaper", "type": "object", "allOf": rules,
		"description": "Any document of Landscaper; apiVersion and kind say which one.",
	}}
}

// metadata is what editors know of the metadata of an object.
func metadata() object {
	texts := object{"type": "object", "additionalProperties": object{"type": "string"}}
	return object{
		"type": "object", "description": "Name, namespace, labels and annotations of the object.",
		"properties": object{"name": object{"type": "string"}, "generateName": object{"type": "string"}, "namespace": object{"type": "string"}, "labels": texts, "annotations": texts},
	}
}

// plainText is a comment as editors show it: lines of a paragraph belong together.
func plainText(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, paragraph := range paragraphs {
		paragraphs[i] = strings.Join(strings.Fields(paragraph), " ")
	}
	return strings.Join(paragraphs, "\n\n")
}
