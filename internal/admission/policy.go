package admission

import (
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// Policy is a policy with the binding that puts it in force.
type Policy struct {
	// Policy holds the rules.
	Policy *admissionv1.ValidatingAdmissionPolicy
	// Binding puts them in force.
	Binding *admissionv1.ValidatingAdmissionPolicyBinding
}

// Policies returns the policies of all kinds.
func Policies() []Policy {
	var policies []Policy
	for _, kind := range Kinds() {
		if refusing := kind.policy(false); refusing != nil {
			policies = append(policies, *refusing)
		}
		if warning := kind.policy(true); warning != nil {
			policies = append(policies, *warning)
		}
	}
	return policies
}

// policy returns the policy with the rules of a kind that refuse objects or with
// those that warn, or nil if there are none.
func (k Kind) policy(warn bool) *Policy {
	name, action := k.Resource+".validation."+v1alpha1.GroupName, admissionv1.Deny
	if warn {
		name, action = k.Resource+".advice."+v1alpha1.GroupName, admissionv1.Warn
	}
	spec := admissionv1.ValidatingAdmissionPolicySpec{
		FailurePolicy:    ptr(admissionv1.Ignore),
		MatchConstraints: k.matchConstraints(),
		MatchConditions:  []admissionv1.MatchCondition{unchangedSpecIsNotLookedAt},
	}
	for _, variable := range k.Variables {
		spec.Variables = append(spec.Variables, admissionv1.Variable(variable))
	}
	var problems []string
	for _, rule := range k.Rules {
		if rule.Warn != warn {
			continue
		}
		variable := "offenders" + camel(rule.ID)
		spec.Variables = append(spec.Variables, admissionv1.Variable{Name: variable, Expression: rule.Offenders})
		problems = append(problems, fmt.Sprintf("variables.%s.size() == 0 ? '' : '%s: ' + variables.%[1]s.join(', ') + ' %[3]s'", variable, rule.Path, rule.Problem))
	}
	if len(problems) == 0 {
		return nil
	}
	// One validation for all rules, because the API server reports only the first
	// one that fails, and a user wants to see all problems at once.
	spec.Variables = append(spec.Variables, admissionv1.Variable{
		Name:       "problems",
		Expression: "[" + strings.Join(problems, ",\n") + "].filter(p, p != '')",
	})
	spec.Validations = []admissionv1.Validation{{
		Expression:        "variables.problems.size() == 0",
		Message:           "the object violates several rules, see docs/reference/validation.md",
		MessageExpression: "variables.problems.join('; ')",
		Reason:            ptr(metav1.StatusReasonInvalid),
	}}
	return &Policy{
		Policy: &admissionv1.ValidatingAdmissionPolicy{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicy"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       spec,
		},
		Binding: &admissionv1.ValidatingAdmissionPolicyBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "ValidatingAdmissionPolicyBinding"},
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName:        name,
				ValidationActions: []admissionv1.ValidationAction{action},
			},
		},
	}
}

// unchangedSpecIsNotLookedAt keeps metadata updates going, such as the removal of
// a finalizer, on objects that were stored before a rule was in force.
var unchangedSpecIsNotLookedAt = admissionv1.MatchCondition{
	Name:       "spec-is-new",
	Expression: "request.operation == 'CREATE' || object.?spec != oldObject.?spec",
}

func (k Kind) matchConstraints() *admissionv1.MatchResources {
	return &admissionv1.MatchResources{
		ObjectSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: v1alpha1.SkipValidationLabel, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"true"},
		}}},
		ResourceRules: []admissionv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule: admissionv1.Rule{
					APIGroups:   []string{v1alpha1.GroupName},
					APIVersions: []string{v1alpha1.GroupVersion.Version},
					Resources:   []string{k.Resource},
				},
			},
		}},
	}
}

// camel turns a rule's ID into a part of a CEL name.
func camel(id string) string {
	var name strings.Builder
	for _, word := range strings.Split(id, "-") {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return name.String()
}

func ptr[T any](value T) *T { return &value }
