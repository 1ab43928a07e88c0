package installation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
)

// TestReadOnce: a root reads each import once from the API server, also what no cache has. A root
// that waits reads the caches first.
func TestReadOnce(t *testing.T) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "password"}, Data: map[string][]byte{"value": []byte("1")}}
	exporter := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "landscape", Annotations: map[string]string{v1alpha1.OperationAnnotation: "reconcile"}}}
	exporter.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "x", Target: "cluster"}}
	for _, test := range []struct {
		reason string
		// looks are how often the root is reconciled.
		looks        int
		there        []client.Object
		uncached     bool
		cached, live string
	}{
		{"all imports exist, and the Target is copied", 1, nil, true, "get Target", "get Secret, get Target"},
		{"an import that is missing and may come is read once more only in the caches", 2, []client.Object{exporter}, true, "get Secret, get Target", "get Secret, get Target"},
		{"imports that all have caches are missing without a request", 2, []client.Object{exporter}, false, "get Target, get Target", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			objects := installed(t, "web")
			inst := objects[0].(*v1alpha1.Installation)
			if test.uncached {
				inst.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "password", SecretRef: &v1alpha1.ImportSecretReference{LocalSecretReference: v1alpha1.LocalSecretReference{Name: "password", Key: "value"}}}}
			}
			b := newBench(t, append(append(objects, secret.DeepCopy()), test.there...)...)
			if test.there != nil {
				if err := b.api.Delete(t.Context(), &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "cluster"}}); err != nil {
					t.Fatal(err)
				}
			}
			cached, live := fakeapi.Fault{Reading: true, At: -1}, fakeapi.Fault{Reading: true, At: -1}
			b.Client, b.Reader = cached.Wrap(t, b.api), live.Wrap(t, b.api)
			b.Planner.Sources.Client = b.api
			for range test.looks {
				b.reconcile(t)
			}
			for what, calls := range map[string]struct {
				got  []string
				want string
			}{"the caches": {cached.Calls, test.cached}, "the API server": {live.Calls, test.live}} {
				var imports []string
				for _, call := range calls.got {
					if call = strings.ReplaceAll(call, "*v1.", ""); call == "get Secret" || call == "get Target" {
						imports = append(imports, call)
					}
				}
				if got := strings.Join(imports, ", "); got != calls.want {
					t.Errorf("%s: %s, want %s", what, got, calls.want)
				}
			}
		})
	}
}
