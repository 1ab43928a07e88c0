package admission

import (
	"fmt"
	"slices"
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

// policy returns the policy with the rules of a kind that refuse objects or with those that warn,
// or nil without such rules.
func (k Kind) policy(warn bool) *Policy {
	name, action := k.Resource+".validation."+v1alpha1.GroupName, admissionv1.Deny
	if warn {
		name, action = k.Resource+".advice."+v1alpha1.GroupName, admissionv1.Warn
	}
	var rules []Rule
	for _, rule := range k.Rules {
		if rule.Warn == warn {
			rules = append(rules, rule)
		}
	}
	if len(rules) == 0 {
		return nil
	}
	spec := admissionv1.ValidatingAdmissionPolicySpec{
		FailurePolicy:    ptr(admissionv1.Ignore),
		MatchConstraints: k.matchConstraints(),
		MatchConditions:  k.matchConditions(rules),
	}
	for _, variable := range k.Variables {
		spec.Variables = append(spec.Variables, admissionv1.Variable(variable))
	}
	for _, rule := range rules {
		if rule.Offenders != "" {
			spec.Variables = append(spec.Variables, admissionv1.Variable{Name: rule.variable(), Expression: rule.Offenders})
		}
	}
	// One validation for all rules, because the API server reports only the first
	// one that fails, and a user wants to see all problems at once.
	spec.Variables = append(spec.Variables, admissionv1.Variable{
		Name:       "problems",
		Expression: problems(rules),
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

// problems returns an expression with the texts of all rules that an object violates. Rules with
// the same condition stand together, so that it is evaluated once.
func problems(rules []Rule) string {
	var groups []string
	for len(rules) > 0 {
		end := 1
		for end < len(rules) && rules[end].Where == rules[0].Where {
			end++
		}
		texts := make([]string, end)
		for i, rule := range rules[:end] {
			texts[i] = rule.problem()
		}
		group := "[" + strings.Join(texts, ",\n") + "]"
		if rules[0].Where != "" {
			group = "(" + rules[0].Where + " ? " + group + " : [])"
		}
		groups, rules = append(groups, group), rules[end:]
	}
	return "(" + strings.Join(groups, " +\n") + ").filter(p, p != '')"
}

// variable is the name of the variable with the offenders of a rule.
func (r Rule) variable() string { return "offenders" + camel(r.ID) }

// problem returns an expression with the text for an object that violates the rule, or an empty
// text.
func (r Rule) problem() string {
	if r.Violated != "" {
		return fmt.Sprintf("(%s) ? '%s: ' + %s + ' %s' : ''", r.Violated, r.Path, r.Offender, r.Problem)
	}
	return fmt.Sprintf("variables.%s.size() == 0 ? '' : '%s: ' + variables.%[1]s.join(', ') + ' %[3]s'", r.variable(), r.Path, r.Problem)
}

// matchConditions keep the API server from evaluating rules that nothing can violate.
func (k Kind) matchConditions(rules []Rule) []admissionv1.MatchCondition {
	// A change of metadata is not checked against the specification, so that the finalizer of an
	// object can be removed that was stored before a rule was in force.
	expression := "request.operation == 'CREATE' || object.?spec != oldObject.?spec"
	if k.Parent != "" {
		expression = "request.operation == 'CREATE' ? !object.metadata.?ownerReferences.orValue([]).exists(o, o.kind == '" + k.Parent + "') : object.?spec != oldObject.?spec"
	}
	conditions := []admissionv1.MatchCondition{{Name: "spec-is-new", Expression: expression}}
	var wheres []string
	for _, rule := range rules {
		if rule.Where == "" {
			return conditions
		}
		wheres = append(wheres, rule.Where)
	}
	slices.Sort(wheres)
	return append(conditions, admissionv1.MatchCondition{Name: "a-rule-can-be-violated", Expression: strings.Join(slices.Compact(wheres), " || ")})
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
