package admission

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
)

// approval refuses approvals that name another user than the one who creates them, and changes of
// approvals. It fails closed and knows no label that switches it off.
func approval() Policy {
	name := "approvals." + deliveryv1alpha1.GroupName
	return Policy{
		Policy: &admissionv1.ValidatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: admissionv1.ValidatingAdmissionPolicySpec{
				FailurePolicy: ptr(admissionv1.Fail),
				MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionv1.RuleWithOperations{
						Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
						Rule: admissionv1.Rule{
							APIGroups: []string{deliveryv1alpha1.GroupName}, APIVersions: []string{deliveryv1alpha1.GroupVersion.Version}, Resources: []string{"deliveryapprovals"},
						},
					},
				}}},
				Validations: []admissionv1.Validation{{
					Expression:        "request.operation != 'CREATE' || object.spec.approvedBy == request.userInfo.username",
					Message:           "spec.approvedBy must be the name of the user who creates the approval",
					MessageExpression: "'spec.approvedBy must be the name of the user who creates the approval: ' + request.userInfo.username",
					Reason:            ptr(metav1.StatusReasonForbidden),
				}, {
					Expression: "request.operation != 'UPDATE' || object.spec == oldObject.spec",
					Message:    "an approval is not changed: delete it, and create another one",
					Reason:     ptr(metav1.StatusReasonForbidden),
				}},
			},
		},
		Binding: &admissionv1.ValidatingAdmissionPolicyBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			},
		},
	}
}
