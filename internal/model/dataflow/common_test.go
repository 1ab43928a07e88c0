package dataflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/template/spiff"
)

// hidden is part of every value in these tests, and must not be in any message.
const hidden = "hunter2"

func target(name string, config string) *v1alpha1.Target {
	return &v1alpha1.Target{
		ObjectMeta: metav1.ObjectMeta{Name: name, Generation: 1},
		Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer([]byte(config))},
	}
}

func otherTarget(name string) *v1alpha1.Target {
	made := target(name, `{"password":"`+hidden+`"}`)
	made.Spec.Type = "acme.example/vm"
	return made
}

func data(raw string) DataImport { return DataImport{Value: v1alpha1.NewAnyJSON([]byte(raw))} }

// decode reads YAML, as users write it.
func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var value T
	if err := yaml.UnmarshalStrict([]byte(text), &value); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return value
}

// imports reads import definitions and sets their defaults.
func definitions(t *testing.T, text string) v1alpha1.ImportDefinitionList {
	t.Helper()
	blueprint := v1alpha1.Blueprint{Imports: decode[v1alpha1.ImportDefinitionList](t, text)}
	blueprint.SetDefaults()
	return blueprint.Imports
}

func exportDefinitions(t *testing.T, text string) v1alpha1.ExportDefinitionList {
	t.Helper()
	blueprint := v1alpha1.Blueprint{Exports: decode[v1alpha1.ExportDefinitionList](t, text)}
	blueprint.SetDefaults()
	return blueprint.Exports
}

// typeOnly is a schema that has nothing but a type.
type typeOnly string

func (s typeOnly) Validate(value any) error {
	kind := map[string]string{"string": "string", "int64": "integer", "json.Number": "integer", "float64": "number", "<nil>": "null", "map[string]interface {}": "object", "[]interface {}": "array", "bool": "boolean"}[fmt.Sprintf("%T", value)]
	if s != "" && string(s) != kind {
		return fmt.Errorf("type is %s, not %s", kind, string(s))
	}
	return nil
}

func compileType(_ context.Context, definition v1alpha1.JSONSchemaDefinition) (Validator, error) {
	var schema struct {
		Type string `json:"type"`
		Ref  string `json:"$ref"`
	}
	if err := json.Unmarshal(definition.RawMessage, &schema); err != nil {
		return nil, err
	}
	if schema.Ref != "" {
		return nil, errors.New("there is no local type of this name")
	}
	return typeOnly(schema.Type), nil
}

// evaluateSpiff computes a mapping as the server does, but with the engine itself.
func evaluateSpiff(ctx context.Context, name string, document v1alpha1.AnyJSON, bindings map[string]any) (any, error) {
	engine, err := spiff.New(spiff.Config{Sensitive: true})
	if err != nil {
		return nil, err
	}
	template, err := spiff.ParseOne(document.RawMessage, name)
	if err != nil {
		return nil, err
	}
	result, err := engine.Process(ctx, template, spiff.Input{Bindings: bindings}, spiff.Options{})
	if err != nil {
		return nil, err
	}
	return result.Data(), nil
}

// wantError compares an error with a part of its message.
func wantError(t *testing.T, reason string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
		t.Errorf("%s: got %v, want %q", reason, err, want)
	}
	if err != nil && strings.Contains(err.Error(), hidden) {
		t.Errorf("%s: the message shows a value: %v", reason, err)
	}
}

// asJSON is the comparable form of a value.
func asJSON(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
