package job_test

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

func TestRemovalRound(t *testing.T) {
	tests := []struct {
		reason, id, removal, base string
		is                        bool
	}{
		{"a job has a removal round", "j", "j-removal", "j", false},
		{"a removal round has no further one", "j-removal", "j-removal", "j", true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := job.RemovalOf(test.id); got != test.removal {
				t.Errorf("the removal round is %q, want %q", got, test.removal)
			}
			if got := job.BaseOf(test.id); got != test.base {
				t.Errorf("the job is %q, want %q", got, test.base)
			}
			if got := job.IsRemoval(test.id); got != test.is {
				t.Errorf("is a removal round: %t, want %t", got, test.is)
			}
		})
	}
}

// TestPart: who is to get a round, and who is done with it.
func TestPart(t *testing.T) {
	const round = "j-removal"
	tests := []struct {
		reason    string
		part      job.Part
		round     string
		due, done bool
	}{
		{"an object without the job is due", job.Part{JobID: "i", Finished: "i"}, "j", true, false},
		{"an object that works on the job is neither due nor done", job.Part{JobID: "j", Finished: "i"}, "j", false, false},
		{"an object that has done the job is done", job.Part{JobID: "j", Finished: "j"}, "j", false, true},
		{"an object that has kept something is done with the first round", job.Part{JobID: "j", Finished: "j", Pending: true}, "j", false, true},
		{"a held object gets no job", job.Part{JobID: "i", Finished: "i", Unwanted: true, Held: true}, "j", false, false},
		{"an object that was held and that a user has deleted is due", job.Part{JobID: "i", Finished: "i", Unwanted: true}, "j", true, false},
		{"an object that has kept nothing is done with the removal round", job.Part{JobID: "j", Finished: "j"}, round, false, true},
		{"an object that has kept something is due for the removal round", job.Part{JobID: "j", Finished: "j", Pending: true}, round, true, false},
		{"an object that works on the removal round is neither due nor done", job.Part{JobID: round, Finished: "j", Pending: true}, round, false, false},
		{"an object that works on the removal round and has kept nothing any more is not done", job.Part{JobID: round, Finished: "j"}, round, false, false},
		{"an object that has ended the removal round is done", job.Part{JobID: round, Finished: round}, round, false, true},
		{"an object that has kept something in the removal round is done", job.Part{JobID: round, Finished: round, Pending: true}, round, false, true},
		{"an object that is still held does not get the removal round", job.Part{JobID: "i", Finished: "i", Unwanted: true, Held: true}, round, false, false},
		{"an unwanted object that is not held is due for the removal round", job.Part{JobID: "i", Finished: "i", Unwanted: true}, round, true, false},
		{"an object that never got the job is due for its removal round", job.Part{JobID: "i", Finished: "i"}, round, true, false},
		{"an object that has ended the removal round is due for the next job", job.Part{JobID: round, Finished: round}, "k", true, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if due, done := test.part.Due(test.round), test.part.Done(test.round); due != test.due || done != test.done {
				t.Errorf("due: %t, done: %t", due, done)
			}
		})
	}
}

// TestRound: which round the job of an Installation is in.
func TestRound(t *testing.T) {
	condition := func(reason string, status v1alpha1.ConditionStatus) []v1alpha1.Condition {
		return []v1alpha1.Condition{{Type: v1alpha1.PendingRemovalsCondition, Status: status, Reason: reason}}
	}
	tests := []struct {
		reason, jobID string
		phase         v1alpha1.InstallationPhase
		conditions    []v1alpha1.Condition
		want          string
	}{
		{"nothing is kept", "j", "Progressing", nil, "j"},
		{"something is kept", "j", "Progressing", condition(string(reasons.Kept), v1alpha1.ConditionTrue), "j"},
		{"it is removed", "j", "Progressing", condition(string(reasons.Removing), v1alpha1.ConditionTrue), "j-removal"},
		{"it is removed below a subinstallation", "j-removal", "Progressing", condition(string(reasons.Removing), v1alpha1.ConditionTrue), "j-removal"},
		{"the round was interrupted, and a deletion follows", "k", "Deleting", condition(string(reasons.Removing), v1alpha1.ConditionTrue), "k"},
		{"a condition that does not hold", "j", "Progressing", condition(string(reasons.Removing), v1alpha1.ConditionFalse), "j"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			inst := &v1alpha1.Installation{Status: v1alpha1.InstallationStatus{JobID: test.jobID, InstallationPhase: test.phase, Conditions: test.conditions}}
			if got := job.Round(inst); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
