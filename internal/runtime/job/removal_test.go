package job_test

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
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
		{"a job that it does not have", job.Part{JobID: "i", Finished: "i"}, "j", true, false},
		{"a job that it works on", job.Part{JobID: "j", Finished: "i"}, "j", false, false},
		{"a job that it has done", job.Part{JobID: "j", Finished: "j"}, "j", false, true},
		{"what it has kept is no matter of the first round", job.Part{JobID: "j", Finished: "j", Pending: true}, "j", false, true},
		{"it is held, and gets no job", job.Part{JobID: "i", Finished: "i", Leaving: true, Held: true}, "j", false, false},
		{"it was held, and somebody has deleted it", job.Part{JobID: "i", Finished: "i", Leaving: true}, "j", true, false},
		{"a round, and it has kept nothing", job.Part{JobID: "j", Finished: "j"}, round, false, true},
		{"a round, and it has kept something", job.Part{JobID: "j", Finished: "j", Pending: true}, round, true, false},
		{"a round that it works on", job.Part{JobID: round, Finished: "j", Pending: true}, round, false, false},
		{"a round that it works on, and has said already that nothing is left", job.Part{JobID: round, Finished: "j"}, round, false, false},
		{"a round that it has done", job.Part{JobID: round, Finished: round}, round, false, true},
		{"it has kept something again", job.Part{JobID: round, Finished: round, Pending: true}, round, false, true},
		{"a round, and it is still held", job.Part{JobID: "i", Finished: "i", Leaving: true, Held: true}, round, false, false},
		{"a round, and it is deleted", job.Part{JobID: "i", Finished: "i", Leaving: true}, round, true, false},
		{"a round of a job that it has never got", job.Part{JobID: "i", Finished: "i"}, round, true, false},
		{"the job after a round", job.Part{JobID: round, Finished: round}, "k", true, false},
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
		{"something is kept", "j", "Progressing", condition(job.KeptReason, v1alpha1.ConditionTrue), "j"},
		{"it is removed", "j", "Progressing", condition(job.RemovingReason, v1alpha1.ConditionTrue), "j-removal"},
		{"it is removed below a subinstallation", "j-removal", "Progressing", condition(job.RemovingReason, v1alpha1.ConditionTrue), "j-removal"},
		{"the round was interrupted, and a deletion follows", "k", "Deleting", condition(job.RemovingReason, v1alpha1.ConditionTrue), "k"},
		{"a condition that does not hold", "j", "Progressing", condition(job.RemovingReason, v1alpha1.ConditionFalse), "j"},
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
