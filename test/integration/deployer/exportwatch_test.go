package deployer_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestExportsAreWatched changes a value on the second cluster after the job has succeeded, with the
// documented configuration. An item without an owner exports the value by a job of its own; an item
// of an Installation asks the root for a job.
func TestExportsAreWatched(t *testing.T) {
	t.Parallel()
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	createTarget(t, namespace, "edge", edgeAccess)
	source := configMap(namespace, "database")
	source.Data = map[string]string{"host": "first"}
	if err := items.Create(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	config := configHead + documented(t, "### Values that change later")
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "root"}
	for _, object := range []client.Object{
		&v1alpha1.Execution{ObjectMeta: meta},
		&v1alpha1.Installation{ObjectMeta: meta, Spec: v1alpha1.InstallationSpec{Blueprint: v1alpha1.BlueprintDefinition{}}},
	} {
		if err := items.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	free, owned := newItem(t, namespace, "free", config), newItem(t, namespace, "owned", config)
	owned.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "root"}
	create(t, owned)
	ofOwner := awaitEnd(t, owned, v1alpha1.DeployItemPhases.Succeeded)
	create(t, free)
	ended := awaitEnd(t, free, v1alpha1.DeployItemPhases.Succeeded)
	secret, values := exported(t, ended)
	if values["host"] != "first" {
		t.Errorf("exports %v", values)
	}
	source.Data["host"] = secretWord
	if err := items.Update(t.Context(), source); err != nil {
		t.Fatal(err)
	}
	again := awaitJobAfter(t, ended)
	changed, values := exported(t, again)
	if values["host"] != secretWord || changed.Name != secret.Name || changed.UID != secret.UID {
		t.Errorf("exports %v in %s", values, changed.Name)
	}
	root := await(t, items, &v1alpha1.InstallationList{}, &v1alpha1.Installation{ObjectMeta: meta}, "the request for a job", func(inst *v1alpha1.Installation) bool {
		return inst.Annotations[v1alpha1.OperationAnnotation] == string(v1alpha1.ReconcileOperation)
	})
	if reason := root.Annotations[v1alpha1.ReconcileReasonAnnotation]; !strings.Contains(reason, "DeployItem "+namespace+"/owned") || strings.Contains(reason, secretWord) {
		t.Errorf("reason %q", reason)
	}
	if err := items.Get(t.Context(), client.ObjectKeyFromObject(ofOwner), ofOwner); err != nil || ofOwner.Status.JobID != owned.Status.JobID {
		t.Errorf("the item got job %s, error %v", ofOwner.Status.JobID, err)
	}
	// The Secret is written once: the item sees its own exports.
	if _, now := exported(t, again); now["host"] != secretWord {
		t.Errorf("exports %v", now)
	}
	for _, item := range []*v1alpha1.DeployItem{again, ofOwner} {
		if err := switchOff(t.Context(), item); err != nil {
			t.Fatal(err)
		}
	}
}
