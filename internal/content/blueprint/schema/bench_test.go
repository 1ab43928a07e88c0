package schema

import (
	"encoding/json"
	"fmt"
	"testing"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/content/blueprint/schema/link"
)

// settings is a schema with 50 groups of settings that share a type, and a value
// that keeps it.
func settings(b *testing.B) ([]byte, any) {
	b.Helper()
	properties, groups := map[string]any{}, map[string]any{}
	for i := range 50 {
		name := fmt.Sprintf("group%d", i)
		properties[name] = map[string]any{"$ref": "local://group"}
		groups[name] = map[string]any{"name": "a-b", "size": i + 1, "labels": map[string]any{"a": "b", "c": "d"}, "zones": []any{"a", "b", "c"}}
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "additionalProperties": false})
	if err != nil {
		b.Fatal(err)
	}
	value, err := jsonvalue.FromObject(groups)
	if err != nil {
		b.Fatal(err)
	}
	return schema, value
}

var group = map[string]string{"group": `{"type": "object", "required": ["name", "size"], "properties": {
	"name": {"type": "string", "pattern": "^[a-z-]+$"}, "size": {"type": "integer", "minimum": 1, "maximum": 100},
	"labels": {"type": "object", "additionalProperties": {"type": "string"}},
	"zones": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": true}}}`}

func BenchmarkCompile(b *testing.B) {
	schema, _ := settings(b)
	c := blueprint(group, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Compile(b.Context(), schema); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompileLargest compiles as many schemas as are allowed.
func BenchmarkCompileLargest(b *testing.B) {
	all := make([]any, link.MaxSchemas-1)
	for i := range all {
		all[i] = map[string]any{"type": "string"}
	}
	schema, err := json.Marshal(map[string]any{"anyOf": all})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (&Compiler{}).Compile(b.Context(), schema); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	schema, value := settings(b)
	compiled, err := blueprint(group, nil).Compile(b.Context(), schema)
	if err != nil {
		b.Fatal(err)
	}
	work := work{}
	work.evaluate(compiled.compiled, value)
	b.ReportAllocs()
	for b.Loop() {
		if err := compiled.Validate(value); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(work.done), "comparisons/op")
}

// BenchmarkValidateWrong has a value that is wrong in as many places as may be
// compared.
func BenchmarkValidateWrong(b *testing.B) {
	compiled, err := (&Compiler{}).Compile(b.Context(), []byte(`{"items": {"type": "string"}}`))
	if err != nil {
		b.Fatal(err)
	}
	value := make([]any, maxWork-1)
	for i := range value {
		value[i] = int64(1)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := compiled.Validate(value); err == nil {
			b.Fatal("the value is accepted")
		}
	}
}
