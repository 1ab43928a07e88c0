package componentfunc

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/internal/base/jsonvalue"
)

const secret = "top-secret-word"

// odd are arguments that no template should give.
func odd(t testing.TB) []any {
	web := open(t, "web", "1.4.2", "")
	cd, err := web.Descriptor()
	if err != nil {
		t.Fatal(err)
	}
	cycle := map[string]any{"type": "x", "resource": map[string]any{"name": "x"}}
	cycle["self"], cycle["referencePath"] = cycle, []any{cycle}
	knot := map[string]any{"name": "name"}
	knot["self"] = knot
	deep := any(secret)
	for range 10_000 {
		deep = []any{deep}
	}
	return []any{
		nil, "", secret, "name", "web-image", "cd://", "cd:///", "cd://resources", "cd://resources/", "cd://resources//", "cd://" + strings.Repeat("resources/", 1000),
		"cd://%zz/x", "\x00\xff", strings.Repeat("[", 10_000), "{resource: {name: &a [*a]}}", "null", "[]", "resource: null", "a: &a [*a]",
		"@", ":", "://", "a://b://c:1", "/:", ":@", strings.Repeat("a/", 1000) + ":1",
		int64(-1), 7, uint8(1), math.NaN(), math.Inf(1), json.Number("1e999"), true, []byte(secret), struct{ A string }{secret}, func() {}, make(chan int), []string{secret}, map[string]string{"name": secret},
		[]any{}, []any{secret, nil}, deep, map[string]any{}, map[string]any(nil), cycle, cd,
		map[string]any{"type": secret}, map[string]any{"type": nil}, map[string]any{"type": "ocm", "component": 5}, map[string]any{"type": "ociArtifact"}, map[string]any{"type": "localBlob", "localReference": "../../../etc/passwd"},
		map[string]any{"meta": secret}, map[string]any{"meta": map[string]any{"schemaVersion": secret}}, map[string]any{"meta": map[string]any{"schemaVersion": "v2"}, "component": secret},
		map[string]any{"apiVersion": "ocm.software/v3alpha1", "spec": map[string]any{"resources": []any{nil}, "references": map[string]any{}}, "repositoryContexts": []any{secret}},
		map[string]any{"apiVersion": "ocm.software/v3alpha1", "spec": map[string]any{"references": []any{map[string]any{"name": "web-image", "version": func() {}}}}},
		map[string]any{"apiVersion": "ocm.software/v3alpha1", "spec": map[string]any{"resources": []any{knot}, "references": []any{knot}}, "repositoryContexts": []any{knot}},
		map[string]any{"resource": map[string]any{"name": nil}}, map[string]any{"resource": map[string]any{"name": "config"}, "referencePath": []any{nil, []any{}}},
	}
}

// TestOddArguments calls each function with odd arguments, none to three of them.
// Nothing may panic.
func TestOddArguments(t *testing.T) {
	arguments := odd(t)
	for reason, c := range map[string]*Component{"a component": open(t, "web", "1.4.2", ""), "no component": open(t, "", "", ""), "nothing at all": {}} {
		t.Run(reason, func(t *testing.T) {
			for engine, functions := range map[string]map[string]Function{"GoTemplate": c.GoTemplate(), "Spiff": c.Spiff()} {
				for _, name := range slices.Sorted(maps.Keys(functions)) {
					call := func(args ...any) {
						defer func() {
							if problem := recover(); problem != nil {
								t.Errorf("%s, %s: %s panics: %v", reason, engine, name, problem)
							}
						}()
						_, err := functions[name](t.Context(), args)
						// Types of accesses and attributes of identities may be shown.
						if err != nil && strings.Contains(err.Error(), secret) && name != "resolve" && !strings.Contains(err.Error(), "NotFound") {
							t.Errorf("%s, %s: %s shows an argument: %v", reason, engine, name, err)
						}
					}
					call()
					for _, first := range arguments {
						call(first)
						for _, second := range arguments {
							call(first, second)
							call(first, "name", second)
						}
					}
				}
			}
		})
	}
}

// FuzzReferences reads texts as references of all kinds.
func FuzzReferences(f *testing.F) {
	for _, arg := range odd(f) {
		if text, ok := arg.(string); ok {
			f.Add(text)
		}
	}
	f.Add("resource: {name: tool, arch: arm64}\nreferencePath: [{name: db}]")
	f.Add("registry.example.org:5000/a/b:1@sha256:4c8e4f4bbd0a1a5a2bd0e4dd1bc2bbd8e8e2b8e3c2d4e4b5f6a7b8c9d0e1f2a3")
	c := open(f, "web", "1.4.2", "")
	functions := c.Spiff()
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"getResourceKey", "getResourceContent"} {
			_, _ = functions[name](t.Context(), []any{text})
		}
		got, err := functions["parseOCIRef"](t.Context(), []any{text})
		if err != nil {
			return
		}
		pair, ok := got.([]any)
		if !ok || len(pair) != 2 || pair[0] == "" || pair[1] == "" {
			t.Errorf("%q: got %v", text, got)
		}
	})
}

// BenchmarkGetResource counts the work for one of 500 resources.
func BenchmarkGetResource(b *testing.B) {
	text := "meta: {schemaVersion: v2}\ncomponent:\n  name: example.org/big\n  version: 1.0.0\n  resources:\n"
	for i := range 500 {
		text += fmt.Sprintf("  - {name: image-%d, version: 1.0.0, type: ociImage, access: {type: ociArtifact, imageReference: \"registry.example.org/%d:1\"}}\n", i, i)
	}
	cd, err := jsonvalue.FromYAML([]byte(text))
	if err != nil {
		b.Fatal(err)
	}
	c := &Component{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.getResource(b.Context(), []any{cd, "name", "image-499"}); err != nil {
			b.Fatal(err)
		}
	}
}
