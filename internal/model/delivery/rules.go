package delivery

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// defaultValidFor is what the API server fills in.
const defaultValidFor = "24h"

// Rules are a policy whose fields were read.
type Rules struct {
	name     string
	policy   *deliveryv1alpha1.DeliveryPolicy
	selector labels.Selector
	openings []opening
	// validFor is how long an approval counts.
	validFor time.Duration
	// Err says why the policy cannot be understood. It then lets no job begin, because what it was
	// meant to permit is not known.
	Err error
}

// Read reads a policy.
func Read(policy *deliveryv1alpha1.DeliveryPolicy) Rules {
	r := Rules{name: policy.Name, policy: policy, selector: labels.Everything()}
	if policy.Spec.Selector != nil {
		selector, err := metav1.LabelSelectorAsSelector(policy.Spec.Selector)
		if err != nil {
			r.Err = fmt.Errorf("spec.selector: %w", err)
			return r
		}
		r.selector = selector
	}
	zone, err := zoneOf(policy.Spec.TimeZone)
	if err != nil {
		r.Err = err
		return r
	}
	for i := range policy.Spec.Windows {
		window, err := openingOf(&policy.Spec.Windows[i], zone)
		if err != nil {
			r.Err = fmt.Errorf("spec.windows[%d]: %w", i, err)
			return r
		}
		r.openings = append(r.openings, window)
	}
	if approval := policy.Spec.Approval; approval != nil {
		if r.validFor, err = time.ParseDuration(cmp.Or(approval.ValidFor, defaultValidFor)); err != nil || r.validFor <= 0 {
			r.Err = fmt.Errorf("spec.approval.validFor: %q is not a time above 0", approval.ValidFor)
			return r
		}
	}
	for i, freeze := range policy.Spec.Freezes {
		if !freeze.From.Before(&freeze.To) {
			r.Err = fmt.Errorf("spec.freezes[%d]: to must be after from", i)
			return r
		}
	}
	return r
}

// Selects reports whether a policy is about an Installation of its namespace. A policy with a selector
// that cannot be read is about all that its other fields select.
func (r Rules) Selects(inst *v1alpha1.Installation) bool {
	spec := &r.policy.Spec
	return predicates.IsRoot(inst) && r.selector.Matches(labels.Set(inst.Labels)) &&
		(len(spec.Contexts) == 0 || slices.Contains(spec.Contexts, predicates.ContextOf(inst))) &&
		(len(spec.Installations) == 0 || slices.Contains(spec.Installations, inst.Name))
}

// refusal is why a policy lets a job not begin at a time.
type refusal struct {
	policy  string
	reason  reasons.Reason
	message string
	// until is when the policy permits the job at the latest, as far as is known; zero otherwise.
	until time.Time
}

// refuses returns why a job may not begin at a time, or nil.
func (r Rules) refuses(at time.Time, automatic bool) *refusal {
	switch {
	case r.Err != nil:
		return &refusal{r.name, reasons.InvalidPolicy, "the policy is not valid: " + r.Err.Error(), time.Time{}}
	case r.policy.Spec.Paused != nil:
		return &refusal{r.name, reasons.Paused, "paused" + because(r.policy.Spec.Paused.Reason), time.Time{}}
	}
	if frozen := r.frozenAt(at, automatic); frozen != nil {
		return frozen
	}
	return r.closedAt(at, automatic)
}

// frozenAt returns the refusal of the freeze that lasts longest, or nil.
func (r Rules) frozenAt(at time.Time, automatic bool) *refusal {
	var frozen *refusal
	for _, freeze := range r.policy.Spec.Freezes {
		applies := automatic || freeze.AppliesTo != deliveryv1alpha1.AppliesToAutomatic
		if applies && (span{freeze.From.Time, freeze.To.Time}).contains(at) && (frozen == nil || freeze.To.After(frozen.until)) {
			frozen = &refusal{r.name, reasons.Frozen, "frozen" + because(freeze.Reason), freeze.To.Time}
		}
	}
	return frozen
}

// closedAt returns the refusal of windows of which none is open, or nil.
func (r Rules) closedAt(at time.Time, automatic bool) *refusal {
	applies, next := false, time.Time{}
	for _, window := range r.openings {
		if window.automaticOnly && !automatic {
			continue
		}
		applies = true
		for _, open := range window.around(at) {
			if open.contains(at) {
				return nil
			}
			if open.from.After(at) && (next.IsZero() || open.from.Before(next)) {
				next = open.from
			}
		}
	}
	switch {
	case !applies:
		return nil
	case next.IsZero():
		return &refusal{r.name, reasons.OutsideWindow, "no window is open, and none follows", next}
	}
	return &refusal{r.name, reasons.OutsideWindow, "no window is open", next}
}

// because adds a reason of the author of a policy.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// nextEdge returns the next moment after a time at which a window or a freeze begins or ends; zero
// without one.
func (r Rules) nextEdge(at time.Time) time.Time {
	var next time.Time
	consider := func(edges ...time.Time) {
		for _, edge := range edges {
			if edge.After(at) && (next.IsZero() || edge.Before(next)) {
				next = edge
			}
		}
	}
	for _, freeze := range r.policy.Spec.Freezes {
		consider(freeze.From.Time, freeze.To.Time)
	}
	for _, window := range r.openings {
		for _, open := range window.around(at) {
			consider(open.from, open.to)
		}
	}
	return next
}
