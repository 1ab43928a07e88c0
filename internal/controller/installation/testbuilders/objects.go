package testbuilders

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

// Noon is the time of tests.
var Noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// Sibling builds a subinstallation of "parent" from a short text: its name, what it
// imports and, after an arrow, what it exports. A name in brackets is being deleted.
func Sibling(text string) *v1alpha1.Installation {
	left, right, _ := strings.Cut(text, "=>")
	fields := strings.Fields(left)
	inst := &v1alpha1.Installation{}
	inst.Namespace = "n"
	if inst.Name = strings.Trim(fields[0], "()"); inst.Name != fields[0] {
		inst.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	}
	inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "parent", UID: "uid-parent"}}
	for _, name := range fields[1:] {
		inst.Spec.Imports.Data = append(inst.Spec.Imports.Data, v1alpha1.DataImport{Name: name, DataRef: name})
	}
	for _, name := range strings.Fields(right) {
		inst.Spec.Exports.Data = append(inst.Spec.Exports.Data, v1alpha1.DataExport{Name: name, DataRef: name})
	}
	inst.Status.JobID = "a"
	return inst
}

// Ended ends the job of a sibling.
func Ended(inst *v1alpha1.Installation, jobID string, phase v1alpha1.InstallationPhase) *v1alpha1.Installation {
	inst.Status.JobID, inst.Status.JobIDFinished, inst.Status.InstallationPhase = jobID, jobID, phase
	return inst
}

// ParentWith is the parent of siblings, with a job.
func ParentWith(jobID, finished string) *v1alpha1.Installation {
	parent := &v1alpha1.Installation{}
	parent.Name, parent.UID, parent.Finalizers = "parent", "uid-parent", []string{v1alpha1.Finalizer}
	parent.Status.JobID, parent.Status.JobIDFinished = jobID, finished
	return parent
}

// Root is a root with data of given names that it imports and exports.
func Root(t *testing.T, name string, imports, exports []string) *v1alpha1.Installation {
	t.Helper()
	inst := &v1alpha1.Installation{}
	inst.Namespace, inst.Name = "n", name
	for _, from := range imports {
		inst.Spec.Imports.Data = append(inst.Spec.Imports.Data, v1alpha1.DataImport{Name: "in-" + from, DataRef: from})
	}
	for _, to := range exports {
		inst.Spec.Exports.Data = append(inst.Spec.Exports.Data, v1alpha1.DataExport{Name: "out-" + to, DataRef: to})
	}
	return inst
}

// InstallationOf is the Installation shop with a specification.
func InstallationOf(t *testing.T, spec string) *v1alpha1.Installation {
	t.Helper()
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop", UID: "uid-2"}}
	if err := yaml.UnmarshalStrict([]byte(spec), &inst.Spec); err != nil { //nolint:forbidigo // a text of a test
		t.Fatal(err)
	}
	inst.Status.JobID = "job-2"
	return inst
}

// Owner is a reference to a controller.
func Owner(kind, name, uid string) metav1.OwnerReference {
	group := v1alpha1.GroupVersion.String()
	if kind != "Installation" {
		group = "apps/v1"
	}
	controls := true
	return metav1.OwnerReference{APIVersion: group, Kind: kind, Name: name, UID: types.UID("uid-" + uid), Controller: &controls}
}

// CopyOf is a Target in the scope of shop.
func CopyOf(name, jobID string, owners ...metav1.OwnerReference) *v1alpha1.Target {
	target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: name, OwnerReferences: owners,
		Labels: map[string]string{v1alpha1.DataObjectContextLabel: "Inst.shop", v1alpha1.DataObjectJobIDLabel: jobID, v1alpha1.DataObjectKeyLabel: name},
	}}
	target.Spec.Type = "example.org/x"
	return target
}
