package plan

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// FuzzReopen continues with stored plans. A user who may write Secrets can change them; then the
// job ends with an error, or works with what it finds, within its limits.
func FuzzReopen(f *testing.F) {
	in := input(f, imports+"exports: [{name: a, schema: {type: string}}]\nexportExecutions: [{name: e, type: GoTemplate, template: \"exports: {a: {{ .imports.password }}}\"}]")
	in.Installation.Status.JobID = "job"
	made, err := New(f.Context(), in)
	if err != nil {
		f.Fatal(err)
	}
	stored, _, err := made.Stored()
	if err != nil {
		f.Fatal(err)
	}
	unpacked, bindings, err := decodeDocument(stored)
	if err != nil || unpacked == nil || bindings == nil {
		f.Fatal(err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(stored))
	if err != nil {
		f.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(reader); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes(), true)
	f.Add(stored, false)
	f.Add([]byte(`{"version":2}`), true)
	f.Add([]byte(`{"version":1,"installation":{},"info":{},"bindings":[]}`), true)
	f.Add([]byte(`{"version":1,"installation":{},"info":{},"bindings":{},"links":{"a":"a"},"files":{"../a":""}}`), true)
	f.Fuzz(func(t *testing.T, content []byte, pack bool) {
		if pack {
			var packed bytes.Buffer
			writer := gzip.NewWriter(&packed)
			_, _ = writer.Write(content)
			_ = writer.Close()
			content = packed.Bytes()
		}
		reopened, err := Reopen(t.Context(), in.Installation, content, Surroundings{
			Open: func(context.Context, *v1alpha1.ComponentDescriptorDefinition) (*Component, error) {
				return nil, errors.New("there is no component")
			},
		})
		if (err == nil) == (reopened == nil) {
			t.Fatalf("%v, %v", reopened, err)
		}
		if err == nil {
			_, _ = reopened.Exports(t.Context(), Results{})
		}
	})
}
