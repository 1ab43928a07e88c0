package targetsync

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

func TestStatusAfter(t *testing.T) {
	good := func() *outcome { return &outcome{asked: true, listed: true, synced: 2} }
	sync := fleet()
	first, changed := statusAfter(sync, good(), now, now)
	if !changed || first.SyncedTargets != 2 || first.ObservedGeneration != 1 || !first.LastUpdateTime.Time.Equal(now) || !first.LastSuccessTime.Time.Equal(now) {
		t.Fatalf("got %+v", first)
	}
	sync.Status = first
	later := now.Add(interval)
	tests := []struct {
		reason  string
		o       func(*outcome)
		changed bool
		check   func(v1alpha1.TargetSyncStatus) bool
	}{
		{"nothing is new: no write", func(*outcome) {}, false, nil},
		{"something was written elsewhere", func(o *outcome) { o.wrote = true }, true, func(s v1alpha1.TargetSyncStatus) bool { return s.LastUpdateTime.Time.Equal(later) }},
		{"a failure of the source keeps the counts", func(o *outcome) {
			*o = *(&outcome{asked: true}).unreached(reasons.SourceNotListed, errors.New("no answer"))
		}, true, func(s v1alpha1.TargetSyncStatus) bool {
			return s.SyncedTargets == 2 && s.LastErrors[0] == "no answer" && conditionOf(s.Conditions, v1alpha1.TargetSyncSourceReachable).Status == v1alpha1.ConditionFalse && s.LastSuccessTime.Time.Equal(now)
		}},
		{"a failure of one shoot", func(o *outcome) {
			o.failed, o.items = 1, []v1alpha1.TargetSyncItem{{Name: "eu", State: v1alpha1.TargetSyncItemFailed, Message: "why"}}
		}, true, func(s v1alpha1.TargetSyncStatus) bool {
			return s.FailedTargets == 1 && s.LastErrors[0] == "eu: why" && conditionOf(s.Conditions, v1alpha1.TargetSyncReady).Reason == string(reasons.ItemsFailed)
		}},
		{"many failures: the first ones and their number", func(o *outcome) {
			for i := range 200 {
				o.failed++
				o.items = append(o.items, v1alpha1.TargetSyncItem{Name: fmt.Sprint(i), State: v1alpha1.TargetSyncItemFailed})
			}
		}, true, func(s v1alpha1.TargetSyncStatus) bool {
			return len(s.Items) == maxItems && s.FailedTargets == 200 && s.LastErrors[maxErrors] == "and 180 more"
		}},
		{"a shoot that waits is no error", func(o *outcome) {
			o.skipped, o.items = 1, []v1alpha1.TargetSyncItem{{Name: "eu", State: v1alpha1.TargetSyncItemSkipped}}
		}, true, func(s v1alpha1.TargetSyncStatus) bool {
			return len(s.LastErrors) == 0 && conditionOf(s.Conditions, v1alpha1.TargetSyncReady).Status == v1alpha1.ConditionTrue
		}},
		{"removals that wait", func(o *outcome) { o.held = []string{"a", "b"} }, true, func(s v1alpha1.TargetSyncStatus) bool {
			return strings.Contains(s.LastErrors[0], "suddenly lacks 2") && conditionOf(s.Conditions, v1alpha1.TargetSyncReady).Reason == string(reasons.RemovalHeld)
		}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			o := good()
			test.o(o)
			status, changed := statusAfter(sync, o, now, later)
			if changed != test.changed || test.check != nil && !test.check(status) {
				t.Errorf("changed %t: %+v", changed, status)
			}
		})
	}
}

func TestNextRun(t *testing.T) {
	failing := &outcome{err: errors.New("x")}
	tests := []struct {
		reason   string
		o        *outcome
		failures int
		spread   float64
		want     time.Duration
	}{
		{"all is well", &outcome{}, 0, 1, interval},
		{"not all at the same time", &outcome{}, 0, 0, 270 * time.Second},
		{"the first failure", failing, 1, 1, 5 * time.Second},
		{"the third one", failing, 3, 1, 20 * time.Second},
		{"after many, no later than any other run", failing, 60, 1, interval},
		{"a failure of one shoot is one", &outcome{failed: 1}, 1, 1, 5 * time.Second},
		{"removals wait for a second look, which must not be too soon", &outcome{held: []string{"a"}}, 1, 1, syncplan.SecondLook},
		{"other TargetSyncs: their deletion triggers a reconcile", &outcome{err: errSeveral, several: true}, 9, 0, interval},
		{"credentials that end soon", &outcome{wake: now.Add(20 * time.Second)}, 0, 1, 20 * time.Second},
		{"credentials that are due at once: no faster than the soonest run", &outcome{wake: now}, 0, 1, soonest},
		{"credentials that live long wait for the next run", &outcome{wake: now.Add(time.Hour)}, 0, 1, interval},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := nextRun(test.o, test.failures, now, test.spread); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}
