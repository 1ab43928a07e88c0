package build

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	api "go.landscaper.dev/api/kustomize/v1alpha1"
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
