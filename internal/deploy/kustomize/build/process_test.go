package build

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/runtime/sandbox/sandboxtest"
)

// TestMain makes this program a process of the pool, as the server's program is one.
func TestMain(m *testing.M) { sandboxtest.Main(m, Handlers()) }

// TestSameKustomization: another process makes the same of a kustomization, and says the same.
func TestSameKustomization(t *testing.T) {
	there := Process{sandboxtest.Pool(t, nil)}
	for _, test := range []struct {
		reason string
		files  files
	}{
		{"objects", files{"kustomization.yaml": "resources: [a.yaml]\nnamePrefix: p-\nconfigMapGenerator: [{name: c, literals: [a=b]}]", "a.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: s}\nspec: {ports: [{port: 8080}]}"}},
		{"a file that does not exist", files{"kustomization.yaml": "resources: [b.yaml]"}},
		{"no kustomization", files{"a.yaml": "a: b"}},
	} {
		here, want := Here{}.Build(t.Context(), "a", tree(t, test.files), &api.ProviderConfiguration{})
		made, err := there.Build(t.Context(), "a", tree(t, test.files), &api.ProviderConfiguration{})
		if (want == nil) != (err == nil) || err != nil && want.Error() != err.Error() {
			t.Errorf("%s: here %v, there %v", test.reason, want, err)
		}
		if diff := cmp.Diff(here, made); diff != "" {
			t.Errorf("%s: -here +there:\n%s", test.reason, diff)
		}
	}
}

// TestHostileKustomizations: what takes too much ends, and another tenant is not held up.
func TestHostileKustomizations(t *testing.T) {
	there := Process{sandboxtest.Pool(t, func(o *sandbox.Options) { o.Timeout = 10 * time.Second })}
	var references, list strings.Builder
	for i := range 900 {
		fmt.Fprintf(&references, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d}\n", i)
	}
	fmt.Fprintf(&list, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  template:\n    spec:\n      containers:\n      - name: a\n        env:\n")
	for i := range 900 {
		fmt.Fprintf(&list, "        - {name: e%d, valueFrom: {configMapKeyRef: {name: c%d, key: a}}}\n", i, i)
	}
	hostile := files{"kustomization.yaml": "resources: [a.yaml, b.yaml]\nnamePrefix: p-", "a.yaml": references.String(), "b.yaml": list.String()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		begin := time.Now()
		_, err := there.Build(t.Context(), "hostile", tree(t, hostile), &api.ProviderConfiguration{})
		t.Logf("name references: %v, %v", time.Since(begin).Round(time.Millisecond), err)
	}()
	honest := files{"kustomization.yaml": "resources: [a.yaml]", "a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: s}"}
	for range 20 {
		if _, err := there.Build(t.Context(), "honest", tree(t, honest), &api.ProviderConfiguration{}); err != nil {
			t.Error(err)
		}
	}
	<-done
}
