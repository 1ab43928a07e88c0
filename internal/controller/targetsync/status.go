package targetsync

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	// maxItems is how many shoots and Secrets a status lists.
	maxItems = 100
	// maxErrors is how many errors it lists, maxNamed how many names a message has.
	maxErrors = 20
	maxNamed  = 10
)

// statusAfter returns the status after a run, and whether it must be written: a run that changes
// nothing needs no write.
func statusAfter(sync *v1alpha1.TargetSync, o *outcome, success, now time.Time) (v1alpha1.TargetSyncStatus, bool) {
	before := &sync.Status
	after := *before.DeepCopy()
	stamp := metav1.NewTime(now.Truncate(time.Second))
	after.ObservedGeneration = sync.Generation
	after.LastErrors = errorsOf(o)
	if o.err == nil {
		after.SyncedTargets, after.FailedTargets, after.SkippedTargets = int32(o.synced), int32(o.failed), int32(o.skipped) //nolint:gosec // a list has at most 20,000 objects
		after.Items = o.items[:min(len(o.items), maxItems)]
	}
	if !o.rotated.IsZero() && (after.LastTokenRotationTime == nil || !after.LastTokenRotationTime.Time.Equal(o.rotated)) {
		rotated := metav1.NewTime(o.rotated.Truncate(time.Second))
		after.LastTokenRotationTime = &rotated
	}
	for _, condition := range conditionsOf(sync, o) {
		job.SetCondition(&after.Conditions, condition, stamp)
	}
	if !rotates(sync) {
		drop(&after.Conditions, v1alpha1.TargetSyncTokenRotated)
	}
	if !o.wrote && before.LastUpdateTime != nil && equality.Semantic.DeepEqual(*before, after) {
		return *before, false
	}
	after.LastUpdateTime = &stamp
	if !success.IsZero() {
		at := metav1.NewTime(success.Truncate(time.Second))
		after.LastSuccessTime = &at
	}
	return after, true
}

func drop(conditions *[]v1alpha1.Condition, kind v1alpha1.ConditionType) {
	kept := (*conditions)[:0]
	for _, condition := range *conditions {
		if condition.Type != kind {
			kept = append(kept, condition)
		}
	}
	*conditions = kept
}

// errorsOf are all errors of a run, the first ones of them.
func errorsOf(o *outcome) []string {
	var all []string
	for _, err := range []error{o.err, o.rotationErr} {
		if err != nil {
			all = append(all, err.Error())
		}
	}
	all = append(all, o.removal...)
	if len(o.held) > 0 {
		all = append(all, heldText(o.held))
	}
	for _, item := range o.items {
		if item.State == v1alpha1.TargetSyncItemFailed {
			all = append(all, withName(item))
		}
	}
	if more := len(all) - maxErrors; more > 0 {
		all = append(all[:maxErrors], fmt.Sprintf("and %d more", more))
	}
	return all
}

// withName names the item that a message is about.
func withName(item v1alpha1.TargetSyncItem) string {
	if strings.Contains(item.Message, "target: "+item.Name+",") {
		return item.Message
	}
	return item.Name + ": " + item.Message
}

func heldText(held []string) string {
	return fmt.Sprintf("the source suddenly lacks %d of what was synchronised (%s): their Targets are removed only if they are missing again in the next run", len(held), named(held))
}

// named lists the first names of many.
func named(names []string) string {
	if more := len(names) - maxNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
	}
	return strings.Join(names, ", ")
}

// conditionsOf are those that follow from a run.
func conditionsOf(sync *v1alpha1.TargetSync, o *outcome) []v1alpha1.Condition {
	conditions := []v1alpha1.Condition{readiness(o)}
	switch {
	case o.asked && o.listed:
		conditions = append(conditions, v1alpha1.Condition{
			Type: v1alpha1.TargetSyncSourceReachable, Status: v1alpha1.ConditionTrue, Reason: string(reasons.Listed), Message: "the source was listed completely",
		})
	case o.err != nil && o.unreachable:
		conditions = append(conditions, v1alpha1.Condition{
			Type: v1alpha1.TargetSyncSourceReachable, Status: v1alpha1.ConditionFalse, Reason: string(o.reason), Message: o.err.Error(), Codes: job.Codes(o.err),
		})
	}
	switch {
	case !rotates(sync):
	case o.rotationErr != nil:
		conditions = append(conditions, v1alpha1.Condition{
			Type: v1alpha1.TargetSyncTokenRotated, Status: v1alpha1.ConditionFalse, Reason: string(reasons.TokenNotRotated), Message: o.rotationErr.Error(), Codes: job.Codes(o.rotationErr),
		})
	case !o.rotated.IsZero():
		conditions = append(conditions, v1alpha1.Condition{
			Type: v1alpha1.TargetSyncTokenRotated, Status: v1alpha1.ConditionTrue, Reason: string(reasons.TokenRotated),
			Message: "the token was last renewed at " + o.rotated.UTC().Format(time.RFC3339),
		})
	}
	return conditions
}

func readiness(o *outcome) v1alpha1.Condition {
	ready := v1alpha1.Condition{Type: v1alpha1.TargetSyncReady, Status: v1alpha1.ConditionFalse}
	var reason reasons.Reason
	switch {
	case o.err != nil:
		reason, ready.Message, ready.Codes = o.reason, o.err.Error(), job.Codes(o.err)
	case o.failed > 0:
		reason, ready.Message = reasons.ItemsFailed, fmt.Sprintf("%d of %d could not be synchronised; status.items tells why", o.failed, o.failed+o.synced+o.skipped)
	case len(o.removal) > 0:
		reason, ready.Message = reasons.ResourceClusterFailed, o.removal[0]
	case len(o.held) > 0:
		reason, ready.Message = reasons.RemovalHeld, heldText(o.held)
	case o.rotationErr != nil:
		reason, ready.Message = reasons.TokenNotRotated, o.rotationErr.Error()
	default:
		ready.Status, reason = v1alpha1.ConditionTrue, reasons.Synchronized
		ready.Message = fmt.Sprintf("%d Targets are up to date", o.synced)
		if o.skipped > 0 {
			ready.Message += fmt.Sprintf(", %d wait; status.items tells why", o.skipped)
		}
	}
	ready.Reason = string(reason)
	return ready
}

// pauses after failures.
const (
	interval   = 5 * time.Minute
	firstRetry = 5 * time.Second
	// soonest is the shortest time between two runs because of short-lived credentials.
	soonest = 10 * time.Second
)

// nextRun says how long to wait for the next run. Spread is between 0 and 1: without it,
// all TargetSyncs would ask their sources at the same time.
func nextRun(o *outcome, failures int, now time.Time, spread float64) time.Duration {
	if o.several {
		// The deletion of the other TargetSync triggers a reconcile.
		return interval
	}
	pause := time.Duration((0.9 + 0.1*spread) * float64(interval))
	if !o.ok() {
		retry := min(firstRetry<<min(failures-1, 10), interval)
		pause = min(pause, time.Duration((0.75+0.25*spread)*float64(retry)))
	}
	if len(o.held) > 0 {
		pause = max(pause, syncplan.SecondLook)
	}
	if !o.wake.IsZero() {
		pause = min(pause, max(o.wake.Sub(now), soonest))
	}
	return pause
}
