package desired

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
	"go.landscaper.dev/internal/runtime/job"
)

// DataCopy returns the object with an imported or exported value that an Installation
// wants. Live is the object that is there, or nil.
func DataCopy(inst *v1alpha1.Installation, object, live *v1alpha1.DataObject) (*v1alpha1.DataObject, Change, error) {
	if live == nil {
		return object, Create, nil
	}
	changed := live.DeepCopy()
	takeMetadata(changed, object, job.Owner{Kind: "Installation", Object: inst})
	// Whether the value is here or in a Secret may have changed.
	mirror(changed.Annotations, object.Annotations, v1alpha1.DataObjectSecretAnnotation)
	changed.Data = object.Data
	change, err := compared(live, changed)
	return changed, change, err
}

// ValueCopy returns the Secret with the value of a DataObject that refers to it. Live is
// the one that is there, or nil.
func ValueCopy(inst *v1alpha1.Installation, secret, live *corev1.Secret) (*corev1.Secret, Change, error) {
	if live == nil {
		return secret, Create, nil
	}
	changed := live.DeepCopy()
	takeMetadata(changed, secret, job.Owner{Kind: "Installation", Object: inst})
	changed.Data = secret.Data
	change, err := compared(live, changed)
	return changed, change, err
}

// TargetCopy returns the Target that an Installation wants for one that it imports or
// exports. Live is the object that is there, or nil.
func TargetCopy(inst *v1alpha1.Installation, target, live *v1alpha1.Target) (*v1alpha1.Target, Change, error) {
	if live == nil {
		return target, Create, nil
	}
	changed := live.DeepCopy()
	takeMetadata(changed, target, job.Owner{Kind: "Installation", Object: inst})
	changed.Spec = target.Spec
	change, err := compared(live, changed)
	return changed, change, err
}

// Stale reports whether an object in the scope of an Installation is a copy of an import that this
// job has not written, because the import no longer exists. Copies of the first round of a job
// count in its removal round, too.
func Stale(inst *v1alpha1.Installation, object metav1.Object) bool {
	return object.GetLabels()[v1alpha1.DataObjectJobIDLabel] != job.BaseOf(inst.Status.JobID) &&
		job.Owner{Kind: "Installation", Object: inst}.Owns(object)
}

// StaleExport reports whether an object is an export that an Installation has written
// in another job.
func StaleExport(inst *v1alpha1.Installation, object metav1.Object) bool {
	return object.GetLabels()[v1alpha1.DataObjectSourceTypeLabel] == string(v1alpha1.ExportDataObjectSourceType) && Stale(inst, object)
}

// PlanSecret returns the Secret with a part of a job's plan. Live is what an earlier
// attempt has stored.
func PlanSecret(secret, live *corev1.Secret) (*corev1.Secret, Change, error) {
	changed := live.DeepCopy()
	changed.Labels, changed.Data = merged(live.Labels, secret.Labels), secret.Data
	change, err := compared(live, changed)
	return changed, change, err
}

// ItemExports returns the DataObject with what the items of an Execution export. Live
// is the one that is there, or nil.
func ItemExports(exec *v1alpha1.Execution, exports map[string]any, live *v1alpha1.DataObject) (*v1alpha1.DataObject, Change, error) {
	raw, err := valueobject.EncodeData(exports)
	if err != nil {
		return nil, "", err // the caller says whose exports they are
	}
	object := &v1alpha1.DataObject{
		ObjectMeta: metav1.ObjectMeta{
			Name: ItemExportsName(exec), Namespace: exec.Namespace,
			Labels: map[string]string{
				v1alpha1.DataObjectContextLabel: v1alpha1.ExecutionScope(exec.Name), v1alpha1.DataObjectSourceLabel: v1alpha1.ExecutionScope(exec.Name),
			},
			Annotations: map[string]string{v1alpha1.DataObjectHashAnnotation: valueobject.Hash(raw)},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.String(), Kind: "Execution", Name: exec.Name, UID: exec.UID,
			}},
		},
		Data: v1alpha1.NewAnyJSON(raw),
	}
	if live == nil {
		return object, Create, nil
	}
	hash, err := valueobject.DataHash(live)
	owner := job.Owner{Kind: "Execution", Object: exec}
	if err == nil && hash == valueobject.Hash(raw) && len(live.OwnerReferences) == 1 && owner.Owns(live) {
		return live, None, nil
	}
	// The update replaces all of it, but only the version that was compared.
	object.ResourceVersion = live.ResourceVersion
	return object, Update, nil
}

// ItemExportsName returns the name of the DataObject with the exports of an
// Execution's items.
func ItemExportsName(exec *v1alpha1.Execution) string {
	return v1alpha1.GenerateDataObjectName(v1alpha1.ExecutionScope(exec.Name), "")
}
