package requests

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

func clusterWith(t *testing.T, installation *v1alpha1.Installation) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(installation).Build()
}

// TestSkip: both names of the annotation go, so that the jobs are on again.
func TestSkip(t *testing.T) {
	installation := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "shop", Annotations: map[string]string{v1alpha1.IgnoreAnnotation: "true", "other": "stays"}}}
	c := clusterWith(t, installation)
	for _, skip := range []bool{true, false} {
		if err := Skip(t.Context(), c, installation, skip); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(installation), installation); err != nil || Skips(installation) != skip || installation.Annotations["other"] != "stays" {
			t.Errorf("skip %v: %v, %v", skip, installation.Annotations, err)
		}
	}
}

// TestDelete: an object that took the name stays, and what is to stay is said before the deletion.
func TestDelete(t *testing.T) {
	installation := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "shop", UID: "u", Finalizers: []string{"test/holds"}}}
	c := clusterWith(t, installation)
	if err := Delete(t.Context(), c, installation, true); err != nil {
		t.Fatal(err)
	}
	found := &v1alpha1.Installation{}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(installation), found); err != nil || found.DeletionTimestamp == nil || found.Annotations[v1alpha1.DeleteWithoutUninstallAnnotation] != "true" {
		t.Errorf("%+v, %v", found.ObjectMeta, err)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "absent"}, found); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}

// TestDeleteAgain: a deletion that has failed goes on by a job of the root, and not by another
// request, which the API server would answer without any effect.
func TestDeleteAgain(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*v1alpha1.Installation)
		want   string
	}{
		{"it has failed", func(*v1alpha1.Installation) {}, "reconcile"},
		{"it is at work", func(i *v1alpha1.Installation) { i.Status.InstallationPhase = v1alpha1.InstallationPhases.Deleting }, ""},
		{"a part has no jobs of its own", func(i *v1alpha1.Installation) { i.Labels = map[string]string{v1alpha1.EncompassedByLabel: "root"} }, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			now := metav1.Now()
			installation := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "shop", UID: "u", Finalizers: []string{"test/holds"}, DeletionTimestamp: &now}}
			installation.Status.InstallationPhase = v1alpha1.InstallationPhases.DeleteFailed
			test.change(installation)
			c := clusterWith(t, installation)
			if err := Delete(t.Context(), c, installation, false); err != nil {
				t.Fatal(err)
			}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(installation), installation); err != nil || installation.Annotations[v1alpha1.OperationAnnotation] != test.want {
				t.Errorf("%v, %v", installation.Annotations, err)
			}
		})
	}
}

// TestFailed: only what has failed and does not run is run again.
func TestFailed(t *testing.T) {
	root := func(finished string) *inspect.Node {
		node := &inspect.Node{Kind: inspect.KindInstallation, Installation: &v1alpha1.Installation{}, JobID: "j", JobIDFinished: finished}
		node.Phase = v1alpha1.PhaseStringFailed
		return node
	}
	if !Failed(root("j")) || Failed(root("earlier")) || Failed(&inspect.Node{Kind: inspect.KindInstallation}) {
		t.Error("another root is run again")
	}
}
