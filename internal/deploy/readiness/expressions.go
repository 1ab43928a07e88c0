package readiness

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/base/expression"
)

// expressions are the conditions of a check in CEL. Those that are nil were not given.
type expressions struct {
	inProgress, failed, current *expression.Condition
}

func newExpressions(spec *deployer.ReadinessExpressions) (*expressions, error) {
	if spec.Current == "" {
		return nil, errors.New("current is missing: say when an object is ready")
	}
	compiled := &expressions{}
	for _, part := range []struct {
		field, text string
		into        **expression.Condition
	}{
		{"inProgress", spec.InProgress, &compiled.inProgress},
		{"failed", spec.Failed, &compiled.failed},
		{"current", spec.Current, &compiled.current},
	} {
		if part.text == "" {
			continue
		}
		condition, err := expression.Parse(part.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.field, err)
		}
		*part.into = &condition
	}
	return compiled, nil
}

// look says how far an object has come: what its controller has not seen yet is in
// progress, then the conditions count in their order.
//
// A condition that cannot be evaluated is no failure: fields that it needs may not be set yet.
func (e *expressions) look(object *unstructured.Unstructured) Finding {
	if observed := number(object, -1, "status", "observedGeneration"); observed >= 0 && observed != object.GetGeneration() {
		return Finding{Why: fmt.Sprintf("its controller has seen generation %d, not yet %d", observed, object.GetGeneration())}
	}
	for _, part := range []struct {
		field     string
		condition *expression.Condition
		meant     bool
		finding   Finding
	}{
		{"inProgress", e.inProgress, false, Finding{Why: "its condition inProgress holds"}},
		{"failed", e.failed, false, Finding{Why: "its condition failed holds", Hopeless: true}},
		{"current", e.current, true, Finding{Why: "its condition current does not hold yet"}},
	} {
		if part.condition == nil {
			continue
		}
		holds, err := part.condition.Holds(object.Object)
		if err != nil {
			return Finding{Why: "its condition " + part.field + " cannot be evaluated: " + err.Error()}
		}
		if holds != part.meant {
			return part.finding
		}
	}
	return Finding{}
}
