package deployer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// TestTimeoutNamesTheWait: wherever the end of the time is noticed, the status says
// what the job has waited for and which failures came before, also when another process
// has met them.
func TestTimeoutNamesTheWait(t *testing.T) {
	const guarded = "the end of ConfigMap ns/app (finalizer acme.example/guard)"
	hook := errors.New("install release ns/app: pre-install hook Job ns/migrate failed: the Job has failed: BackoffLimitExceeded")
	denied := errors.New("an admission policy of the cluster refuses it")
	type outcome struct {
		waits string
		err   error
	}
	failed := func(err error) outcome { return outcome{err: err} }
	for _, test := range []struct {
		reason   string
		attempts []outcome
		// atCheckpoint says that the checkpoint notices the end, before anybody looks again.
		atCheckpoint bool
		want         string
	}{
		{"the wait of the last attempt", []outcome{{waits: guarded}}, true, `timeout at: "test: work": waiting for ` + guarded},
		{"the newest of several waits", []outcome{{waits: "a"}, {waits: guarded}}, true, `timeout at: "test: work": waiting for ` + guarded},
		{"a wait for a user", []outcome{failed(job.NewWaiting("o", "r", "Secret ns/a is missing: create it"))}, true, `timeout at: "test: work": Secret ns/a is missing: create it`},
		{"the error of the last attempt, once", []outcome{failed(denied), failed(denied)}, true, `timeout at: "test: work": ` + denied.Error()},
		{"three failures before the wait of the last attempt", []outcome{failed(hook), failed(hook), failed(hook), {waits: "pre-install hook Job ns/migrate to complete (1 pods active, 0 failed)"}}, false,
			`timeout at: "test: work": waiting for pre-install hook Job ns/migrate to complete (1 pods active, 0 failed); attempts before it failed: ` + hook.Error() + " (3 times)"},
		{"different failures, the newest first", []outcome{failed(hook), failed(denied), {waits: "a"}}, true,
			`timeout at: "test: work": waiting for a; attempts before it failed: ` + denied.Error() + "; " + hook.Error()},
		{"an error without end", []outcome{failed(errors.New(strings.Repeat("ä", 10_000))), {waits: "a"}}, true,
			`timeout at: "test: work": waiting for a; attempts before it failed: ` + strings.Repeat("ä", maxFailure/2) + "…"},
		{"no more than three failures are reported", []outcome{failed(errors.New("1")), failed(errors.New("2")), failed(errors.New("3")), failed(errors.New("4")), {waits: "a"}}, true,
			`timeout at: "test: work": waiting for a; attempts before it failed: 4; 3; 2`},
	} {
		for _, restarted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, restarted %t", test.reason, restarted), func(t *testing.T) {
				var now outcome
				over := false
				s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
					if err := item.Checkpoint(ctx, "test: work"); err != nil && (test.atCheckpoint || !over) {
						return Result{}, err
					}
					if now.err != nil {
						return Result{}, now.err
					}
					return WaitFor(now.waits), nil
				}}, newItem())
				for _, now = range test.attempts {
					s.reconciler.requeue(key)
					s.look()
					s.clock = s.clock.Add(time.Minute)
				}
				want := test.want
				if restarted {
					s.reconciler.memory.end(key)
					// A status counts nothing.
					want = strings.ReplaceAll(want, " (3 times)", "")
				}
				s.clock, over = s.clock.Add(v1alpha1.DefaultDeployItemTimeout), true
				s.reconciler.requeue(key)
				s.look()
				s.expect("Failed", true, want)
				if shown := s.item().Status.LastError; shown.Operation != "StandardTimeoutChecker.TimeoutExceeded" || shown.Reason != "ProgressingTimeout" || len(shown.Codes) != 1 || shown.Codes[0] != v1alpha1.ErrorTimeout {
					t.Errorf("last error %+v", shown)
				}
			})
		}
	}
}

// TestWaitShowsTheEarlierFailure: a job that tries again waits for what has failed before. The
// status says both, also when another process continues the job.
func TestWaitShowsTheEarlierFailure(t *testing.T) {
	var err error
	s := onStage(t, &script{reconcile: func(context.Context, *Item) (Result, error) {
		if err != nil {
			return Result{}, err
		}
		return WaitFor("pre-install hook Job ns/migrate to complete"), nil
	}}, newItem())
	shown := func(want string) {
		t.Helper()
		s.clock = s.clock.Add(time.Second)
		s.reconciler.requeue(key)
		s.look()
		if got := job.Obstacle(s.item().Status.Conditions); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	const waits = "waiting for pre-install hook Job ns/migrate to complete"
	shown(waits)
	err = errors.New("no permission")
	shown("no permission")
	err = errors.New("BackoffLimitExceeded")
	shown("BackoffLimitExceeded")
	err = nil
	shown(waits + "; attempts before it failed: BackoffLimitExceeded")
	s.reconciler.memory.end(key)
	shown(waits + "; attempts before it failed: BackoffLimitExceeded")
	err = errors.New("no permission")
	shown("no permission")
	err = nil
	shown(waits + "; attempts before it failed: no permission")
}

// TestOtherEndsAreAsTheyAre: only the end of the time says nothing by itself.
func TestOtherEndsAreAsTheyAre(t *testing.T) {
	err := errors.New("connection refused")
	s := onStage(t, &script{reconcile: func(context.Context, *Item) (Result, error) { return Result{}, err }}, newItem())
	s.look()
	err = ConfigurationError("spec.config.a", "it must be a number")
	s.clock = s.clock.Add(time.Minute)
	s.look()
	s.expect("Failed", true, "spec.config.a: it must be a number")
}
