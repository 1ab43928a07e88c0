package readthrough

import (
	"bytes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// requested and overrides mark an Installation with who has asked for a job, and who overrides a policy for
// it, as omitted marks one without its value.
const (
	requested = metav1.ManagedFieldsOperationType("Requested")
	overrides = metav1.ManagedFieldsOperationType("Overrides")
)

// markRequester keeps of the managed fields who has written the operation and the override, as long as
// there is one.
func markRequester(inst *v1alpha1.Installation) {
	var kept []metav1.ManagedFieldsEntry
	for _, one := range []struct {
		annotation string
		mark       metav1.ManagedFieldsOperationType
	}{{v1alpha1.OperationAnnotation, requested}, {deliveryv1alpha1.OverrideAnnotation, overrides}} {
		if inst.Annotations[one.annotation] == "" {
			continue
		}
		if name := writerOf(inst, one.annotation, one.mark); name != "" {
			kept = append(kept, metav1.ManagedFieldsEntry{Operation: one.mark, Manager: name})
		}
	}
	inst.ManagedFields = kept
}

// Requester returns the client that has written the operation of an Installation, by the name that the
// client has given itself; empty if that is not known.
func Requester(inst *v1alpha1.Installation) string {
	return writerOf(inst, v1alpha1.OperationAnnotation, requested)
}

// Overrider returns the client that has written the override of an Installation, in the same way.
func Overrider(inst *v1alpha1.Installation) string {
	return writerOf(inst, deliveryv1alpha1.OverrideAnnotation, overrides)
}

// writerOf returns the client that has written an annotation, also if only its mark was kept.
func writerOf(inst *v1alpha1.Installation, annotation string, mark metav1.ManagedFieldsOperationType) string {
	field := []byte(`"f:` + annotation + `"`)
	var latest metav1.ManagedFieldsEntry
	for _, entry := range inst.ManagedFields {
		if entry.Operation == mark {
			return entry.Manager
		}
		if entry.Subresource != "" || entry.FieldsV1 == nil || !bytes.Contains(entry.FieldsV1.GetRawBytes(), field) {
			continue
		}
		if latest.Manager == "" || latest.Time.Before(entry.Time) {
			latest = entry
		}
	}
	return latest.Manager
}
