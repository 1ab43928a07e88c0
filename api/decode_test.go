package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"pgregory.net/rapid"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api"
	"go.landscaper.dev/api/v1alpha1"
)

// TestWhatIsAdmittedDecodes makes objects of each kind from its definition, lets
// the validation of an API server choose those that it would store, and reads them
// as a watch does: whole lists with our types. Each object that was read must be
// admitted again when it is written, so that no client is locked out of an object.
func TestWhatIsAdmittedDecodes(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	decoder := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme, scheme, serializer.SerializerOptions{})
	for kind, schema := range definitions(t) {
		t.Run(kind, func(t *testing.T) {
			// Objects that were stored before the schemas had patterns are still there.
			older := schemaOf(t, schema)
			withoutPatterns(older)
			stored, today := validate.NewSchemaValidator(older, nil, "", strfmt.Default), validate.NewSchemaValidator(schemaOf(t, schema), nil, "", strfmt.Default)
			admitted := 0
			read := func(t *rapid.T) {
				sent := received(t, object(t, older, 0))
				fields := sent.(map[string]any)
				fields["apiVersion"], fields["kind"], fields["metadata"] = v1alpha1.GroupVersion.String(), kind, map[string]any{"name": "one", "namespace": "tenant"}
				if result := stored.Validate(sent); !result.IsValid() {
					return
				}
				admitted++
				list := map[string]any{"apiVersion": v1alpha1.GroupVersion.String(), "kind": kind + "List", "metadata": map[string]any{}, "items": []any{sent, sent}}
				text := encode(t, list)
				decoded, _, err := decoder.Decode(text, nil, nil)
				if err != nil {
					t.Fatalf("a list of what the API server stores cannot be read: %v\n%s", err, text)
				}
				var written struct {
					Items []any `json:"items"`
				}
				if err := kjson.UnmarshalCaseSensitivePreserveInts(encode(t, decoded), &written); err != nil {
					t.Fatal(err)
				}
				if kind == "SyncObject" {
					return // The lock of other releases, which we never write.
				}
				if result := today.Validate(written.Items[1]); !result.IsValid() {
					t.Fatalf("what was read cannot be written again: %v\n%s\n%s", result.AsError(), text, encode(t, written.Items[1]))
				}
			}
			// Most objects that chance makes are refused: it gets more than one try.
			for tries := 0; admitted < 20 && tries < 20; tries++ {
				rapid.Check(t, read)
			}
			if admitted < 20 {
				t.Errorf("only %d objects were admitted; the test says nothing", admitted)
			}
		})
	}
}

// TestUnreadableTimes sends times to the schemas that other readers of our
// kinds, with types of their own, cannot decode.
func TestUnreadableTimes(t *testing.T) {
	tests := []struct {
		time, reason string
		admitted     bool
	}{
		{"2026-01-02T03:04:05Z", "as every client writes it", true},
		{"2026-01-02T03:04:05.678+01:00", "all that clients read", true},
		{"2020-01-01t00:00:00z", "lower case", false},
		{"2020-01-01T00:00:00Zt and any text", "a text behind the time", false},
		{"2020-01-01T00:00:00/5Z", "another character before the fraction", false},
		{"2020-01-01T00:00:00+99:99", "an offset of more than a day", false},
		{"2020-02-30T00:00:00Z", "a day that does not exist", false},
	}
	for kind, schema := range definitions(t) {
		for path, field := range timesOf(schemaOf(t, schema), "") {
			validator := validate.NewSchemaValidator(&field, nil, path, strfmt.Default)
			for _, test := range tests {
				t.Run(kind+path+" "+test.reason, func(t *testing.T) {
					if result := validator.Validate(test.time); result.IsValid() != test.admitted {
						t.Errorf("%s: admitted %t, want %t", test.time, result.IsValid(), test.admitted)
					}
				})
			}
		}
	}
}

// timesOf returns the fields of a schema that are times.
func timesOf(schema *spec.Schema, path string) map[string]spec.Schema {
	found := map[string]spec.Schema{}
	if schema.Format == "date-time" {
		found[path] = *schema
	}
	for name, property := range schema.Properties {
		maps.Copy(found, timesOf(&property, path+"."+name))
	}
	if schema.Items != nil {
		maps.Copy(found, timesOf(schema.Items.Schema, path+"[]"))
	}
	return found
}

// definitions returns the schemas of all kinds.
func definitions(t *testing.T) map[string]*apiextensionsv1.JSONSchemaProps {
	t.Helper()
	found := map[string]*apiextensionsv1.JSONSchemaProps{}
	files, err := api.CRDs.ReadDir("crds")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := api.CRDs.ReadFile("crds/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(content, crd); err != nil {
			t.Fatal(err)
		}
		found[crd.Spec.Names.Kind] = crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	}
	if len(found) < 11 {
		t.Fatalf("only %d kinds", len(found))
	}
	return found
}

func schemaOf(t *testing.T, props *apiextensionsv1.JSONSchemaProps) *spec.Schema {
	t.Helper()
	schema := &spec.Schema{}
	if err := json.Unmarshal(encode(t, props), schema); err != nil {
		t.Fatal(err)
	}
	return schema
}

func withoutPatterns(schema *spec.Schema) {
	schema.Pattern = ""
	for name, property := range schema.Properties {
		withoutPatterns(&property)
		schema.Properties[name] = property
	}
	if schema.Items != nil {
		withoutPatterns(schema.Items.Schema)
	}
	if schema.AdditionalProperties != nil {
		withoutPatterns(schema.AdditionalProperties.Schema)
	}
}

// received is a value as an API server sees it after it was sent as JSON.
func received(t *rapid.T, value any) any {
	var read any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(encode(t, value), &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func encode(t interface {
	Helper()
	Fatal(args ...any)
}, value any) []byte {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var (
	times = []string{
		"2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678+01:00",
		// What the format admits beyond what Go reads.
		"2020-01-01t00:00:00z", "2020-01-01T00:00:00Zt and any text", "2020-01-01T00:00:00/5Z", "2020-01-01T00:00:00+99:99",
		// What Go reads and writes in a way that it does not read.
		"0001-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59",
	}
	texts    = []string{"", "a", "none", "1h30m", "-5m", "soon", "null", "{}", "0", "ü\u2028\x00", "(( x ))", strings.Repeat("x", 5000)}
	encoded  = []string{"", "QQ==", "QUI=", "QUJD", "////", "QR=="}
	integers = []any{0, 1, -1, math.MaxInt32 + 1, math.MaxInt64, math.MinInt64, json.Number("1.0"), json.Number("1e3"), json.Number("9007199254740992.0"), json.Number("99999999999999999999")}
	numbers  = []any{0, 1.5, -1, math.MaxInt64, json.Number("99999999999999999999"), 1e300, json.Number("1E-400"), math.SmallestNonzeroFloat64}
)

// fill makes a value that a schema may admit.
func fill(t *rapid.T, schema *spec.Schema, depth int) any {
	if rapid.IntRange(0, 60).Draw(t, "null") == 0 {
		return nil
	}
	switch {
	case len(schema.Enum) > 0:
		return rapid.SampledFrom(schema.Enum).Draw(t, "one of")
	case schema.Type.Contains("object"):
		return object(t, schema, depth)
	case schema.Type.Contains("array"):
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "elements") {
			list = append(list, fill(t, schema.Items.Schema, depth+1))
		}
		return list
	case schema.Type.Contains("string"):
		choice := map[string][]string{"date-time": times, "byte": encoded, "": texts}[schema.Format]
		return rapid.SampledFrom(choice).Draw(t, "text")
	case schema.Type.Contains("integer"):
		return rapid.SampledFrom(integers).Draw(t, "integer")
	case schema.Type.Contains("boolean"):
		return rapid.Bool().Draw(t, "boolean")
	case len(schema.Type) > 0:
		t.Fatalf("the test makes no values of type %v", schema.Type)
	}
	return anything(t, depth)
}

func object(t *rapid.T, schema *spec.Schema, depth int) map[string]any {
	fields := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if property := schema.Properties[name]; slices.Contains(schema.Required, name) || rapid.Bool().Draw(t, name) {
			fields[name] = fill(t, &property, depth+1)
		}
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		for i := range rapid.IntRange(0, 2).Draw(t, "keys") {
			fields[fmt.Sprint("key", i)] = fill(t, schema.AdditionalProperties.Schema, depth+1)
		}
	}
	if preserved, _ := schema.Extensions.GetBool("x-kubernetes-preserve-unknown-fields"); preserved {
		fields["unknown"] = anything(t, depth+1)
	}
	return fields
}

// anything makes a value where a schema says nothing.
func anything(t *rapid.T, depth int) any {
	choices := 5
	if depth > 8 {
		choices = 3
	}
	switch rapid.IntRange(0, choices).Draw(t, "any") {
	case 0:
		return nil
	case 1:
		return rapid.SampledFrom(texts).Draw(t, "text")
	case 2:
		return rapid.SampledFrom(numbers).Draw(t, "number")
	case 3:
		return rapid.Bool().Draw(t, "boolean")
	case 4:
		return []any{anything(t, depth+1), anything(t, depth+1)}
	}
	return map[string]any{"type": anything(t, depth+1), "name": anything(t, depth+1), "": anything(t, depth+1)}
}
