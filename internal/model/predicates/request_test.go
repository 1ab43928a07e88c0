package predicates_test

import (
	"testing"

	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/model/predicates"
)

// TestRequests: what the operations of users mean for a running job, and for whom.
func TestRequests(t *testing.T) {
	running := given.Jobs("b", "a", "Progressing")
	for _, test := range []struct {
		reason                 string
		options                []given.Option
		forced, early, nothing bool
	}{
		{"nobody asks for anything", []given.Option{running}, false, false, false},
		{"a job that follows the running one lets it end", []given.Option{running, given.Requested("reconcile")}, false, false, false},
		{"a job at once ends the running one", []given.Option{running, given.Requested("force-reconcile")}, true, true, false},
		{"a job at once, and none is running", []given.Option{given.Jobs("a", "a", "Failed"), given.Requested("force-reconcile")}, true, false, false},
		{"an interruption", []given.Option{running, given.Requested("interrupt")}, false, true, false},
		{"an abort", []given.Option{running, given.Requested("abort")}, false, true, false},
		{"a subinstallation is interrupted like a root", []given.Option{given.Sub, running, given.Requested("interrupt")}, false, true, false},
		{"a subinstallation gets no job of its own", []given.Option{given.Sub, given.Requested("reconcile")}, false, false, true},
		{"nor at once", []given.Option{given.Sub, running, given.Requested("force-reconcile")}, false, false, true},
		{"an Installation of another system is no parent", []given.Option{given.Strange, given.Requested("force-reconcile"), running}, true, true, false},
		{"what nobody knows", []given.Option{running, given.Requested("dance")}, false, false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := given.Situation(test.options...)
			unfinished := s.Inst.Status.JobID != s.Inst.Status.JobIDFinished
			if got := predicates.Forced(s.Inst); got != test.forced {
				t.Errorf("a job at once: %t", got)
			}
			if got := predicates.EndsEarly(s.Inst, unfinished); got != test.early {
				t.Errorf("the running job ends early: %t", got)
			}
			if got := predicates.InVain(s.Inst); got != test.nothing {
				t.Errorf("the request has no effect: %t", got)
			}
		})
	}
}
