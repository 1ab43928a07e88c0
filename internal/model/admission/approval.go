package admission

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
)

// approval refuses approvals that name another user than the one who creates them, and changes of
// approvals.
func approval() Policy {
	return denying("approvals."+deliveryv1alpha1.GroupName, deliveryv1alpha1.GroupVersion, "deliveryapprovals", admissionv1.Validation{
		Expression:        "request.operation != 'CREATE' || object.spec.approvedBy == request.userInfo.username",
		Message:           "spec.approvedBy must be the name of the user who creates the approval",
		MessageExpression: "'spec.approvedBy must be the name of the user who creates the approval: ' + request.userInfo.username",
		Reason:            ptr(metav1.StatusReasonForbidden),
	}, admissionv1.Validation{
		Expression: "request.operation != 'UPDATE' || object.spec == oldObject.spec",
		Message:    "an approval is not changed: delete it, and create another one",
		Reason:     ptr(metav1.StatusReasonForbidden),
	})
}
