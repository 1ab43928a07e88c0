package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/job"
)

// outcome is what a part of an attempt returns.
type outcome struct {
	wake job.Wake
	err  error
}

// scripted is an attempt whose steps are known before. It notes what the engine calls.
type scripted struct {
	observes outcome
	steps    []string
	// applied is what the steps return; a step without it continues.
	applied map[string]outcome
	panics  string
	// reports is what Report fails with.
	reports error
	calls   []string
}

func (a *scripted) note(call string) {
	if a.calls = append(a.calls, call); call == a.panics {
		panic("broken")
	}
}

func (a *scripted) Observe(context.Context) (job.Wake, error) {
	a.note("observe")
	return a.observes.wake, a.observes.err
}

func (a *scripted) Decide(context.Context) (string, job.Wake) {
	if len(a.steps) == 0 {
		return Rest, job.Wake{}.By(now.Add(time.Minute))
	}
	step := a.steps[0]
	if len(a.steps) > 1 || step != "again" {
		a.steps = a.steps[1:]
	}
	a.note(step)
	return step, job.Continues()
}

func (a *scripted) Apply(context.Context) (job.Wake, error) {
	step := a.calls[len(a.calls)-1]
	a.note("apply " + step)
	if done, ok := a.applied[step]; ok {
		return done.wake, done.err
	}
	return job.Continues(), nil
}

func (a *scripted) LogValues() []any { return nil }

func (a *scripted) Forget() { a.note("forget") }

func (a *scripted) Report(_ context.Context, step string, err error) (ctrl.Result, error) {
	if a.reports != nil {
		a.note("report")
		return ctrl.Result{}, a.reports
	}
	text := err.Error()
	if job.IsPanic(err) {
		text = "a panic"
	}
	a.calls = append(a.calls, "report "+step+": "+text)
	return ctrl.Result{RequeueAfter: time.Hour}, nil
}

var now = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)

func TestDrive(t *testing.T) {
	failure := errors.New("no answer")
	stale := expectations.StaleCacheError{RetryAfter: 2 * time.Second}
	deleted := expectations.StaleCacheError{Deleted: true}
	continues := outcome{wake: job.Continues()}
	tests := []struct {
		reason  string
		attempt scripted
		calls   string
		pause   time.Duration
		err     error
	}{
		{"an object that does not exist needs nothing", scripted{observes: outcome{wake: job.Settled()}}, "observe", 0, nil},
		{"nothing is decided before its time", scripted{observes: outcome{wake: job.Wake{}.By(now.Add(time.Second))}}, "observe", time.Second, nil},
		{"a read that has failed concerns no job", scripted{observes: outcome{err: failure}}, "observe", 0, failure},
		{"a cache that is behind leaves a wake", scripted{observes: outcome{err: stale}}, "observe", 2 * time.Second, nil},
		{"steps follow each other until there is nothing to do", scripted{observes: continues, steps: []string{"begin", "end"}}, "observe begin apply begin end apply end", time.Minute, nil},
		{
			"a step may end the attempt", scripted{observes: continues, steps: []string{"plan", "end"}, applied: map[string]outcome{"plan": {wake: job.OnChange("Installation", "shop")}}},
			"observe plan apply plan", 0, nil,
		},
		{
			"a step that meets a cache which is behind is tried again", scripted{observes: continues, steps: []string{"begin", "end"}, applied: map[string]outcome{"begin": {err: stale}}},
			"observe begin apply begin", 2 * time.Second, nil,
		},
		{
			"what a step fails with is reported with its name", scripted{observes: continues, steps: []string{"begin", "end"}, applied: map[string]outcome{"begin": {err: failure}}},
			"observe begin apply begin report begin: no answer", time.Hour, nil,
		},
		{"nothing is left of an object that does not exist", scripted{observes: outcome{wake: job.Deleted()}}, "observe forget", 0, nil},
		{
			"nor of one whose last step was to let it be deleted", scripted{observes: continues, steps: []string{"release"}, applied: map[string]outcome{"release": {wake: job.Deleted()}}},
			"observe release apply release forget", 0, nil,
		},
		{
			"nor of one that was deleted before a write", scripted{observes: continues, steps: []string{"begin"}, applied: map[string]outcome{"begin": {err: fmt.Errorf("write: %w", deleted)}}},
			"observe begin apply begin forget", 0, nil,
		},
		{
			"nor of one that was deleted before the report", scripted{observes: continues, steps: []string{"begin"}, applied: map[string]outcome{"begin": {err: failure}}, reports: deleted},
			"observe begin apply begin report forget", 0, nil,
		},
		{
			"a report that meets a cache which is behind is tried again", scripted{observes: continues, steps: []string{"begin"}, applied: map[string]outcome{"begin": {err: failure}}, reports: stale},
			"observe begin apply begin report", 2 * time.Second, nil,
		},
		{
			"a report may leave the error to the queue", scripted{observes: continues, steps: []string{"begin"}, applied: map[string]outcome{"begin": {err: failure}}, reports: failure},
			"observe begin apply begin report", 0, failure,
		},
		{"a panic is reported like an error", scripted{observes: continues, steps: []string{"begin"}, panics: "apply begin"}, "observe begin apply begin report begin: a panic", time.Hour, nil},
		{"a panic of a read is reported, too", scripted{observes: continues, panics: "observe"}, "observe report : a panic", time.Hour, nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			result, err := Drive(t.Context(), &test.attempt, func() time.Time { return now })
			if calls := strings.Join(test.attempt.calls, " "); calls != test.calls || result.RequeueAfter != test.pause || !errors.Is(err, test.err) {
				t.Errorf("calls are %q, pause %s, %v; want %q, %s, %v", calls, result.RequeueAfter, err, test.calls, test.pause, test.err)
			}
		})
	}
}

// TestNoRest: a decision that is repeated without end is reported like any other error.
func TestNoRest(t *testing.T) {
	a := scripted{observes: outcome{wake: job.Continues()}, steps: []string{"again"}}
	if _, err := Drive(t.Context(), &a, func() time.Time { return now }); err != nil {
		t.Fatal(err)
	}
	if last := a.calls[len(a.calls)-1]; last != `report again: the job does not come to rest: step "again" is repeated` || !slices.Contains(a.calls, "apply again") {
		t.Error(last)
	}
}
