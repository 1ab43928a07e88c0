package readthrough

import (
	"bytes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// requested marks an Installation with who has asked for a job, as omitted marks one without its value.
const requested = metav1.ManagedFieldsOperationType("Requested")

// operationField is the operation among the managed fields of an annotation.
var operationField = []byte(`"f:` + v1alpha1.OperationAnnotation + `"`)

// markRequester keeps of the managed fields who has written the operation, as long as there is one.
func markRequester(inst *v1alpha1.Installation) {
	name := ""
	if inst.Annotations[v1alpha1.OperationAnnotation] != "" {
		name = Requester(inst)
	}
	inst.ManagedFields = nil
	if name != "" {
		inst.ManagedFields = []metav1.ManagedFieldsEntry{{Operation: requested, Manager: name}}
	}
}

// Requester returns the client that has written the operation of an Installation, by the name that the
// client has given itself; empty if that is not known.
func Requester(inst *v1alpha1.Installation) string {
	if fields := inst.ManagedFields; len(fields) == 1 && fields[0].Operation == requested {
		return fields[0].Manager
	}
	var latest metav1.ManagedFieldsEntry
	for _, entry := range inst.ManagedFields {
		if entry.Subresource != "" || entry.FieldsV1 == nil || !bytes.Contains(entry.FieldsV1.GetRawBytes(), operationField) {
			continue
		}
		if latest.Manager == "" || latest.Time.Before(entry.Time) {
			latest = entry
		}
	}
	return latest.Manager
}
