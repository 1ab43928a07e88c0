package testbuilders

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
)

// Importer is a root that imports the DataObject "x", after a job.
func Importer(t *testing.T, name string, change func(*v1alpha1.Installation)) *v1alpha1.Installation {
	t.Helper()
	inst := Root(t, name, []string{"x"}, nil)
	inst.Namespace, inst.UID = "team-a", types.UID("uid-"+name)
	inst.Spec.Blueprint.Inline = &v1alpha1.InlineBlueprint{}
	Describe(t, inst, "{}")
	Ended(inst, "a", "Succeeded")
	if change != nil {
		change(inst)
	}
	return inst
}

// ImportCopy is the copy of "x" that a job of a root has made.
func ImportCopy(of, value, jobID string) *v1alpha1.DataObject {
	object := DataOf("copy-of-"+of, value)
	object.Labels = map[string]string{v1alpha1.DataObjectContextLabel: v1alpha1.InstallationScope(of), v1alpha1.DataObjectKeyLabel: "in-x", v1alpha1.DataObjectJobIDLabel: jobID}
	return object
}

// TargetOf is a Target of a type.
func TargetOf(name, targetType string) *v1alpha1.Target {
	target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}}
	target.Spec.Type = v1alpha1.TargetType(targetType)
	return target
}

// Describe gives an Installation a blueprint.
func Describe(t *testing.T, object metav1.Object, description string) {
	t.Helper()
	inst, ok := object.(*v1alpha1.Installation)
	raw, err := json.Marshal(map[string]string{"blueprint.yaml": description})
	if err != nil || !ok {
		t.Fatal(err)
	}
	inst.Spec.Blueprint.Inline.Filesystem = v1alpha1.NewAnyJSON(raw)
}
