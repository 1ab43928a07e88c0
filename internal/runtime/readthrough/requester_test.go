package readthrough

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// TestOverrider: caches keep who overrides a policy, beside who asks for the job.
func TestOverrider(t *testing.T) {
	fields := func(manager, annotation string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:` + annotation + `":{}}}}`)}
	}
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
		Annotations:   map[string]string{v1alpha1.OperationAnnotation: "reconcile", deliveryv1alpha1.OverrideAnnotation: "freeze"},
		ManagedFields: []metav1.ManagedFieldsEntry{fields("flux", v1alpha1.OperationAnnotation), fields("kubectl-annotate", deliveryv1alpha1.OverrideAnnotation)},
	}}
	// A cache may transform what it has transformed before.
	for range 2 {
		if _, err := Transform(inst); err != nil {
			t.Fatal(err)
		}
		if Requester(inst) != "flux" || Overrider(inst) != "kubectl-annotate" {
			t.Errorf("%q has asked, and %q overrides: %v", Requester(inst), Overrider(inst), inst.ManagedFields)
		}
	}
	delete(inst.Annotations, deliveryv1alpha1.OverrideAnnotation)
	if _, err := Transform(inst); err != nil || Overrider(inst) != "" || Requester(inst) != "flux" {
		t.Errorf("%v: %v", err, inst.ManagedFields)
	}
}

// TestRequester: caches keep who has asked for a job, as long as the request is there, and nothing else of
// the managed fields.
func TestRequester(t *testing.T) {
	const operation = `{"f:metadata":{"f:annotations":{"f:landscaper.gardener.cloud/operation":{}}}}`
	entry := func(manager, fields, subresource string, second int64) metav1.ManagedFieldsEntry {
		at := metav1.Unix(second, 0)
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Time: &at, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	asks := map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
	tests := []struct {
		reason      string
		annotations map[string]string
		fields      []metav1.ManagedFieldsEntry
		want        string
	}{
		{"a client has set the operation", asks, []metav1.ManagedFieldsEntry{entry("kubectl-edit", `{"f:spec":{}}`, "", 3), entry("kubectl-annotate", operation, "", 2)}, "kubectl-annotate"},
		{"two clients have applied it: the last one has asked", asks, []metav1.ManagedFieldsEntry{entry("flux", operation, "", 1), entry("kubectl", operation, "", 2)}, "kubectl"},
		{"no operation", nil, []metav1.ManagedFieldsEntry{entry("kubectl-edit", operation, "", 3)}, ""},
		{"a status does not ask for anything", asks, []metav1.ManagedFieldsEntry{entry("landscaper", operation, "status", 3)}, ""},
		{"another annotation", asks, []metav1.ManagedFieldsEntry{entry("kubectl", `{"f:metadata":{"f:annotations":{"f:landscaper.gardener.cloud/operations":{}}}}`, "", 3)}, ""},
		{"an API server without managed fields", asks, nil, ""},
		{"fields without a description", asks, []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Annotations: test.annotations, ManagedFields: test.fields}}
			// A cache may transform what it has transformed before.
			for range 2 {
				if _, err := Transform(inst); err != nil {
					t.Fatal(err)
				}
				if got := Requester(inst); got != test.want || Omitted(inst) || len(inst.ManagedFields) > 1 || test.want == "" && inst.ManagedFields != nil {
					t.Errorf("%q, want %q; fields %v", got, test.want, inst.ManagedFields)
				}
			}
		})
	}
}
