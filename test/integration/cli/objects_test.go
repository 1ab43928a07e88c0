package cli

import (
	"context"
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// create stores an object together with its status.
func create[T client.Object](t *testing.T, object T, status func(T)) T {
	t.Helper()
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	status(object)
	if err := cluster.Status().Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	return object
}

// update changes the stored status of an object.
func update[T client.Object](t *testing.T, object T, status func(T)) {
	t.Helper()
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	status(object)
	if err := cluster.Status().Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// take does what a controller does with a request: it begins a job and removes
// the annotation.
func take(t *testing.T, installation *v1alpha1.Installation, job string) {
	t.Helper()
	update(t, installation, func(i *v1alpha1.Installation) { i.Status.JobID = job })
	delete(installation.Annotations, v1alpha1.OperationAnnotation)
	if err := cluster.Update(t.Context(), installation); err != nil {
		t.Fatal(err)
	}
}

// job makes the status of a job: finished if the phase is final.
func job(id, phase string) func(*v1alpha1.Installation) {
	return func(i *v1alpha1.Installation) {
		i.Status.JobID, i.Status.InstallationPhase, i.Status.ObservedGeneration = id, v1alpha1.InstallationPhase(phase), i.Generation
		if i.Status.InstallationPhase.IsFinal() {
			i.Status.JobIDFinished = id
		}
	}
}

func itemJob(id, phase, message string) func(*v1alpha1.DeployItem) {
	return func(d *v1alpha1.DeployItem) {
		d.Status.JobID, d.Status.Phase, d.Status.ObservedGeneration = id, v1alpha1.DeployItemPhase(phase), d.Generation
		d.Status.LastError = nil
		if message != "" {
			d.Status.LastError = newError(message)
		}
		if d.Status.Phase.IsFinal() {
			d.Status.JobIDFinished = id
		}
	}
}

func newError(message string) *v1alpha1.Error {
	return &v1alpha1.Error{Message: message, LastTransitionTime: metav1.Now(), LastUpdateTime: metav1.Now()}
}

func newInstallation(namespace, name, parent string) *v1alpha1.Installation {
	i := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if parent != "" {
		i.Labels = map[string]string{v1alpha1.EncompassedByLabel: parent}
	}
	i.Spec.Blueprint.Reference = &v1alpha1.RemoteBlueprintReference{ResourceName: "blueprint"}
	return i
}

func newItem(namespace, execution, name string) *v1alpha1.DeployItem {
	return &v1alpha1.DeployItem{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{v1alpha1.ExecutionManagedByLabel: execution}},
		Spec:       v1alpha1.DeployItemSpec{Type: v1alpha1.ManifestDeployItemType},
	}
}

// plant stores an Installation with an Execution and one DeployItem.
func plant(t *testing.T, namespace, name, parent, item, phase string) *v1alpha1.Installation {
	t.Helper()
	installation := create(t, newInstallation(namespace, name, parent), func(i *v1alpha1.Installation) {
		job("job-1", phase)(i)
		i.Status.ExecutionReference = &v1alpha1.ObjectReference{Namespace: namespace, Name: name}
	})
	create(t, &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}, func(e *v1alpha1.Execution) {
		e.Status.JobID, e.Status.ExecutionPhase = "job-1", v1alpha1.ExecutionPhase(phase)
		if e.Status.ExecutionPhase.IsFinal() {
			e.Status.JobIDFinished = "job-1"
		}
	})
	create(t, newItem(namespace, name, item), itemJob("job-1", phase, ""))
	return installation
}

// apply creates an object of any kind that ends with the test.
func apply(t *testing.T, content map[string]any) {
	t.Helper()
	object := &unstructured.Unstructured{}
	raw, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	if err := object.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Delete(context.Background(), object); err != nil {
			t.Error(err)
		}
	})
}
