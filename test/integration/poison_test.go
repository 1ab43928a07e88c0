package integration

import (
	"bytes"
	"context"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/server/install"
)

// poison is a status with times that the format of a schema admits and the types of
// clients do not read.
const poison = `{"status":{"phaseTransitionTime":"2020-01-01t00:00:00z","lastReconcileTime":"2020-01-01T00:00:00Zt and any text","observedGeneration":1,
"conditions":[{"type":"A","status":"True","reason":"r","message":"m","lastTransitionTime":"2020-01-01T00:00:00/5Z","lastUpdateTime":"2020-01-01T00:00:00+99:99"}]}}`

// TestPoisonedWatch stores a status that stopped the watches of all clients, under the definition
// of an older release, and shows that lists and watches continue, and that the object can be
// written.
func TestPoisonedWatch(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	typed, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	made, err := createAndRead(t, mustParse(t, `{kind: DeployItem, spec: {type: acme.example/poison}}`))
	if err != nil {
		t.Fatal(err)
	}
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: made.GetNamespace(), Name: made.GetName()}}
	spoil := func() error {
		return cluster.Status().Patch(ctx, made.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(poison)))
	}
	if err := spoil(); err == nil {
		t.Fatal("our schema admits times that other readers cannot decode")
	}

	events, err := typed.Watch(ctx, &v1alpha1.DeployItemList{}, client.InNamespace(item.Namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	removePatterns(ctx, t, "deployitems.landscaper.gardener.cloud")
	for spoil() != nil {
		select {
		case <-ctx.Done():
			t.Fatalf("the older definition is not in force: %v", spoil())
		case <-time.After(50 * time.Millisecond): // nothing shows when a definition is in force
		}
	}
	for seen := false; !seen; {
		event, open := <-events.ResultChan()
		if !open || ctx.Err() != nil {
			t.Fatal("the watch ended before it delivered the object")
		}
		got, isItem := event.Object.(*v1alpha1.DeployItem)
		if !isItem {
			t.Fatalf("the watch delivers %T: %+v", event.Object, event.Object)
		}
		seen = got.Name == item.Name && got.Status.PhaseTransitionTime != nil
	}
	list := &v1alpha1.DeployItemList{}
	if err := typed.List(ctx, list, client.InNamespace(item.Namespace)); err != nil {
		t.Fatalf("the list cannot be read: %v", err)
	}
	restore(ctx, t)
	if err := typed.Get(ctx, client.ObjectKeyFromObject(item), item); err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC); !item.Status.PhaseTransitionTime.Time.Equal(want) {
		t.Errorf("a time in lower case is read as %s, want %s", item.Status.PhaseTransitionTime, want)
	}
	item.Status.Phase = v1alpha1.DeployItemPhases.Failed
	if err := typed.Status().Update(ctx, item); err != nil {
		t.Errorf("the object cannot be written any more: %v", err)
	}
}

// removePatterns gives a definition the form of an older release.
func removePatterns(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := cluster.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { restore(context.Background(), t) })
	changed := crd.DeepCopy()
	schema := changed.Spec.Versions[0].Schema.OpenAPIV3Schema
	*schema = withoutPatterns(*schema)
	if err := cluster.Patch(ctx, changed, client.MergeFrom(crd)); err != nil {
		t.Fatal(err)
	}
}

// restore installs our definitions again.
func restore(ctx context.Context, t *testing.T) {
	t.Helper()
	if err := install.Run(ctx, cluster, install.Options{SourceNamespaces: sources}, &bytes.Buffer{}); err != nil {
		t.Error(err)
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
