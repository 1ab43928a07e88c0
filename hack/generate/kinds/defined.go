package kinds

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// definedSchemas are those of the CRDs in a folder.
func definedSchemas(folder string) ([]writtenSchema, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there are no CRDs in %s: %w", folder, err)
	}
	var all []writtenSchema
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err // names the file
		}
		var definition struct {
			Spec struct {
				Group string
				Names struct{ Kind string }
				// There is one version of each kind.
				Versions []struct {
					Name   string
					Schema struct{ OpenAPIV3Schema object }
				}
			}
		}
		if err := yaml.Unmarshal(text, &definition); err != nil || len(definition.Spec.Versions) != 1 {
			return nil, fmt.Errorf("read %s: %d versions: %w", name, len(definition.Spec.Versions), err)
		}
		spec := definition.Spec
		all = append(all, definedSchema(spec.Group+"/"+spec.Versions[0].Name, spec.Names.Kind, spec.Versions[0].Schema.OpenAPIV3Schema))
	}
	return all, nil
}

func definedSchema(apiVersion, kind string, openAPI object) writtenSchema {
	schema := converted(openAPI)
	schema["$schema"], schema["title"] = dialect, kind
	properties := schema["properties"].(object)
	properties["apiVersion"], properties["kind"], properties["metadata"] = object{"const": apiVersion}, object{"const": kind}, metadata()
	if status, has := properties["status"].(object); has {
		// Controllers write it.
		properties["status"] = object{"description": status["description"]}
	}
	required, _ := schema["required"].([]any)
	schema["required"] = append([]any{"apiVersion", "kind", "metadata"}, required...)
	return writtenSchema{strings.ToLower(kind), apiVersion, kind, schema}
}

// converted is a schema of OpenAPI as one of the language of editors. Fields that an API server would drop are
// errors.
func converted(from object) object {
	to := object{}
	for name, value := range from {
		if strings.HasPrefix(name, "x-kubernetes-") || name == "nullable" || name == "format" {
			continue
		}
		to[name] = convertedRule(name, value)
	}
	if _, structured := to["properties"]; structured && from["x-kubernetes-preserve-unknown-fields"] != true && to["additionalProperties"] == nil && to["type"] == "object" {
		to["additionalProperties"] = false
	}
	if from["nullable"] == true && to["type"] != nil {
		to["type"] = []any{to["type"], "null"}
	}
	return to
}

func convertedRule(name string, value any) any {
	switch name {
	case "description":
		return plainText(fmt.Sprint(value))
	case "properties":
		all := object{}
		for property, schema := range value.(object) {
			all[property] = converted(schema.(object))
		}
		return all
	case "allOf", "anyOf", "oneOf":
		var all []any
		for _, schema := range value.([]any) {
			all = append(all, converted(schema.(object)))
		}
		return all
	case "items", "additionalProperties", "not":
		if schema, ok := value.(object); ok {
			return converted(schema)
		}
	}
	return value
}
