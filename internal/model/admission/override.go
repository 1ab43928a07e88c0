package admission

import (
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// DeliveryPolicies returns the policies of the feature DeliveryPolicies.
func DeliveryPolicies() []Policy { return []Policy{override(), approval()} }

// override refuses that a user names a DeliveryPolicy in an override without the right for that.
func override() Policy {
	annotation := func(of string) string {
		return fmt.Sprintf("%s.metadata.?annotations[?'%s'].orValue('')", of, deliveryv1alpha1.OverrideAnnotation)
	}
	policy := denying("installations.override."+deliveryv1alpha1.GroupName, v1alpha1.GroupVersion, "installations", admissionv1.Validation{
		Expression: fmt.Sprintf("authorizer.group('%s').resource('deliverypolicies').namespace(request.namespace).name(%s).check('%s').allowed()",
			deliveryv1alpha1.GroupName, annotation("object"), deliveryv1alpha1.OverrideVerb),
		Message: "the right is missing to override this DeliveryPolicy",
		MessageExpression: fmt.Sprintf("'the annotation %s needs the verb %s on DeliveryPolicy ' + %s + ' of namespace ' + request.namespace",
			deliveryv1alpha1.OverrideAnnotation, deliveryv1alpha1.OverrideVerb, annotation("object")),
		Reason: ptr(metav1.StatusReasonForbidden),
	})
	policy.Policy.Spec.MatchConditions = []admissionv1.MatchCondition{{
		Name:       "override-is-new",
		Expression: annotation("object") + " != '' && (request.operation == 'CREATE' || " + annotation("object") + " != " + annotation("oldObject") + ")",
	}}
	return policy
}

// denying is a policy about those who create and change objects of a resource. It fails closed and knows
// no label that switches it off: it is a permission, not advice.
func denying(name string, version schema.GroupVersion, resource string, validations ...admissionv1.Validation) Policy {
	return Policy{
		Policy: &admissionv1.ValidatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: admissionv1.ValidatingAdmissionPolicySpec{
				FailurePolicy: ptr(admissionv1.Fail),
				MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
					RuleWithOperations: admissionv1.RuleWithOperations{
						Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
						Rule:       admissionv1.Rule{APIGroups: []string{version.Group}, APIVersions: []string{version.Version}, Resources: []string{resource}},
					},
				}}},
				Validations: validations,
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
