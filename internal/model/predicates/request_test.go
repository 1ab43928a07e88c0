package predicates_test

import (
	"testing"

	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/predicates"
)

// TestRequests: what the operations of users mean for a running job, of a root and of a
// subinstallation.
func TestRequests(t *testing.T) {
	running := testbuilders.Jobs("b", "a", "Progressing")
	for _, test := range []struct {
		reason                 string
		options                []testbuilders.Option
		forced, early, nothing bool
	}{
		{"no request", []testbuilders.Option{running}, false, false, false},
		{"a job that follows the running one lets it end", []testbuilders.Option{running, testbuilders.Requested("reconcile")}, false, false, false},
		{"a job at once ends the running one", []testbuilders.Option{running, testbuilders.Requested("force-reconcile")}, true, true, false},
		{"a job at once without a running one", []testbuilders.Option{testbuilders.Jobs("a", "a", "Failed"), testbuilders.Requested("force-reconcile")}, true, false, false},
		{"an interruption", []testbuilders.Option{running, testbuilders.Requested("interrupt")}, false, true, false},
		{"an abort", []testbuilders.Option{running, testbuilders.Requested("abort")}, false, true, false},
		{"a subinstallation is interrupted like a root", []testbuilders.Option{testbuilders.Sub, running, testbuilders.Requested("interrupt")}, false, true, false},
		{"a subinstallation gets no job of its own", []testbuilders.Option{testbuilders.Sub, testbuilders.Requested("reconcile")}, false, false, true},
		{"a subinstallation gets no job at once", []testbuilders.Option{testbuilders.Sub, running, testbuilders.Requested("force-reconcile")}, false, false, true},
		{"an Installation of another system is not a parent", []testbuilders.Option{testbuilders.ForeignOwner, testbuilders.Requested("force-reconcile"), running}, true, true, false},
		{"an unknown operation", []testbuilders.Option{running, testbuilders.Requested("dance")}, false, false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := testbuilders.Situation(test.options...)
			unfinished := s.Inst.Status.JobID != s.Inst.Status.JobIDFinished
			if got := predicates.Forced(s.Inst); got != test.forced {
				t.Errorf("a job at once: %t", got)
			}
			if got := predicates.IsInterrupted(s.Inst, unfinished); got != test.early {
				t.Errorf("the running job ends early: %t", got)
			}
			if got := predicates.HasIneffectiveRequest(s.Inst); got != test.nothing {
				t.Errorf("the request has no effect: %t", got)
			}
		})
	}
}
