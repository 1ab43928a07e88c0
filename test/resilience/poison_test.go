package resilience

import (
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/scenario"
)

// poison are statuses with instants that the format of a schema admits, and clients do
// not read.
const poison = `{"status":{"phaseTransitionTime":"2020-01-01t00:00:00z","lastReconcileTime":"2020-01-01T00:00:00Zt and any text","observedGeneration":1,
"conditions":[{"type":"A","status":"True","reason":"r","message":"m","lastTransitionTime":"2020-01-01T00:00:00/5Z","lastUpdateTime":"2020-01-01T00:00:00+99:99"}]}}`

// TestPoisonedObjects: objects with instants in strange forms, from the time of an older
// definition, stop neither the controllers nor their readiness, and a server that starts
// when they are there becomes ready.
func TestPoisonedObjects(t *testing.T) {
	space := namespace(t)
	kinds := map[string]client.Object{
		"installations": &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "poisoned"}, Spec: newInstallation(space, "poisoned", oneConfigMap).Spec},
		"executions":    &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "poisoned"}},
		"deployitems":   &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "poisoned"}, Spec: v1alpha1.DeployItemSpec{Type: "acme.example/poison"}},
	}
	for _, object := range kinds {
		createAll(t, object)
	}
	server := startServer(t, env.ServerKubeconfig)
	for kind, object := range kinds {
		oldDefinition(t, kind+".landscaper.gardener.cloud")
		spoil(t, object)
	}
	goesOn := func(when, name string) {
		t.Helper()
		waitSucceeded(t, create(t, newInstallation(space, name, oneConfigMap)))
		if code := readiness(t, server); code != http.StatusOK {
			t.Errorf("%s: /readyz says %d", when, code)
		}
	}
	goesOn("while it runs", "beside")
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	if err := server.Restart(ctx); err != nil {
		t.Fatalf("it does not start again: %v", err)
	}
	goesOn("after a restart", "behind")
}

func readiness(t *testing.T, server *scenario.Server) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+server.Health()+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// spoil writes the poison into the status of an object, as soon as the older definition
// is in force.
func spoil(t *testing.T, object client.Object) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	// Nothing shows when a definition is in force.
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		live := object.DeepCopyObject().(client.Object)
		err := env.Admin.Status().Patch(ctx, live, client.RawPatch("application/merge-patch+json", []byte(poison)))
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the object cannot be poisoned: %v", err)
		case <-tick.C:
		}
	}
}

// oldDefinition gives a definition the form of an older release until the test ends.
func oldDefinition(t *testing.T, name string) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := env.Admin.Get(t.Context(), client.ObjectKey{Name: name}, crd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := install.Run(context.Background(), env.Admin, install.Options{}, io.Discard); err != nil {
			t.Error(err)
		}
	})
	before := crd.DeepCopy()
	schema := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	*schema = withoutPatterns(*schema)
	// The API server may be writing the status of the definition.
	if err := env.Admin.Patch(t.Context(), crd, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

func withoutPatterns(schema apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	schema.Pattern = ""
	for name, property := range schema.Properties {
		schema.Properties[name] = withoutPatterns(property)
	}
	if schema.Items != nil {
		*schema.Items.Schema = withoutPatterns(*schema.Items.Schema)
	}
	return schema
}
