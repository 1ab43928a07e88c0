package decide_test

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/runtime/job"
)

func TestDecideRemovals(t *testing.T) {
	const settled, itself = "nothing, the job has ended", "the step itself"
	with := func(options ...given.Option) []given.Option {
		return append([]given.Option{given.Finalized}, options...)
	}
	running := given.Jobs("a", "", "Progressing")
	tests := []struct {
		reason  string
		options []given.Option
		want    decide.Step
		wake    string
	}{
		// The first round.
		{"one that is held keeps nobody waiting", with(running, given.Written("b"), given.Leaves("old"), given.WithSub("b", "a", "", "Progressing"), given.WithSub("old", "z", "z", "Succeeded")), decide.Rest, "Installation b"},
		{"it is removed when all others have succeeded", with(running, given.Written("b"), given.Leaves("old"), given.WithSub("b", "a", "a", "Succeeded"), given.WithSub("old", "z", "z", "Succeeded")), decide.BeginRemovals, itself},
		{"it stays when another one has failed", with(running, given.Written("b"), given.Leaves("old"), given.WithSub("b", "a", "a", "Failed"), given.WithSub("old", "z", "z", "Succeeded"), given.Traced), decide.Fail, itself},
		{"that its own last job has failed says nothing", with(running, given.Leaves("old"), given.WithSub("old", "z", "z", "Failed")), decide.BeginRemovals, itself},
		{"somebody has deleted it meanwhile: it goes in this round", with(running, given.Leaves("old"), given.WithSub("(old)", "z", "z", "Succeeded")), decide.Rest, "Installation old"},
		{"an item has kept something", with(running, given.WithExecution("a", "a", "Succeeded"), given.ItemsKept), decide.BeginRemovals, itself},
		{"something is kept below a subinstallation", with(running, given.Written("b"), given.WithSub("b", "a", "a", "Succeeded"), given.SubKept), decide.BeginRemovals, itself},
		{"a subinstallation leaves that to its root", with(given.Below("a", "", "Progressing"), running, given.WithExecution("a", "a", "Succeeded"), given.ItemsKept), decide.Complete, itself},
		{"without its parent it does it itself", with(given.WithoutParent, running, given.WithExecution("a", "a", "Succeeded"), given.ItemsKept), decide.BeginRemovals, itself},
		{"results of another specification are none: nothing is removed", with(running, given.Generations(2, 1), given.WithExecution("a", "a", "Succeeded"), given.ItemsKept), decide.Fail, itself},
		{"a deletion takes what is held with it", with(given.Deleting, given.Leaves("old"), given.WithSub("old", "z", "z", "Succeeded"), given.Jobs("a", "z", "Deleting")), decide.Remove, itself},
		{"an update of data does not leave as it is what has kept something", with(given.Below("b", "a", "Progressing"), given.Kept, given.Jobs("a", "a", "Succeeded")), decide.Adopt, itself},

		// A child that is missing after the store of the cluster was restored.
		{"the Execution was seen in a cache that was not rewound yet", with(running, given.AwaitingExecution, func(s *decide.Situation) { s.Gone, s.Unsettled = true, true }), decide.Begin, itself},
		{"the Execution is gone, and nothing was rewound", with(running, given.AwaitingExecution, func(s *decide.Situation) { s.Gone = true }), decide.Fail, itself},

		// The removal round.
		{"what was held is deleted", with(running, given.Removing, given.Leaves("old"), given.WithSub("old", "z", "z", "Succeeded")), decide.Withdraw, itself},
		{"it goes", with(running, given.Removing, given.Leaves("old"), given.WithSub("(old)", "a-removal", "z", "Deleting")), decide.Rest, "Installation old"},
		{"it cannot be deleted", with(running, given.Removing, given.Leaves("old"), given.WithSub("(old)", "a-removal", "a-removal", "DeleteFailed"), given.Traced), decide.Fail, itself},
		{"one that has kept something has not got the round yet", with(running, given.Removing, given.Written("b"), given.WithSub("b", "a", "a", "Succeeded"), given.SubKept), decide.Rest, "Installation b"},
		{"it is at work", with(running, given.Removing, given.Written("b"), given.WithSub("b", "a-removal", "a", "Progressing"), given.SubKept), decide.Rest, "Installation b"},
		{"one that has kept nothing is not waited for", with(running, given.Removing, given.Written("b", "c"), given.WithSub("b", "a", "a", "Succeeded"), given.WithSub("c", "a-removal", "a-removal", "Succeeded")), decide.Complete, itself},
		{"the Execution has not got the round yet", with(running, given.Removing, given.WithExecution("a", "a", "Succeeded"), given.ItemsKept), decide.Rest, "Execution x"},
		{"the Execution is at work", with(running, given.Removing, given.WithExecution("a-removal", "a", "Progressing")), decide.Rest, "Execution x"},
		{"the Execution has kept nothing", with(running, given.Removing, given.WithExecution("a", "a", "Succeeded")), decide.Complete, itself},
		{"the Execution is done", with(running, given.Removing, given.WithExecution("a-removal", "a-removal", "Succeeded")), decide.Complete, itself},
		{"the Execution has failed", with(running, given.Removing, given.WithExecution("a-removal", "a-removal", "Failed")), decide.Fail, itself},
		{"something is kept for ever: there is no third round", with(running, given.Removing, given.WithExecution("a-removal", "a-removal", "Succeeded"), given.ItemsKept), decide.Complete, itself},
		{"the specification has changed meanwhile", with(running, given.Removing, given.Generations(2, 1)), decide.Fail, itself},

		// That of a subinstallation.
		{"it has kept something: it gets the round", with(given.Below("a", "", "Progressing"), given.ParentRemoving, given.Kept, given.Jobs("a", "a", "Succeeded")), decide.Adopt, itself},
		{"it has kept nothing", with(given.Below("a", "", "Progressing"), given.ParentRemoving, given.Jobs("a", "a", "Succeeded")), decide.Rest, settled},
		{"it has done the round", with(given.Below("a", "", "Progressing"), given.ParentRemoving, given.Jobs("a-removal", "a-removal", "Succeeded")), decide.Rest, settled},
		{"the round comes from a parent that has got it itself", with(given.Below("a-removal", "a", "Progressing"), given.Kept, given.Jobs("a", "a", "Succeeded")), decide.Adopt, itself},
		{"it is held and waits", with(given.Below("a", "", "Progressing"), given.ParentLeaves("x"), given.Kept, given.Jobs("z", "z", "Succeeded")), decide.Rest, settled},
		{"it was held and is deleted", with(given.Below("a", "", "Progressing"), given.ParentRemoving, given.ParentLeaves("x"), given.Deleting, given.Jobs("z", "z", "Succeeded")), decide.Adopt, itself},
		{"it is wanted, and somebody has deleted it in the round", with(given.Below("a", "", "Progressing"), given.ParentRemoving, given.Deleting, given.Jobs("a", "a", "Succeeded"), given.SaidSo), decide.Rest, settled},
		{"it writes no children", with(given.Below("a", "", "Progressing"), given.ParentRemoving, given.Kept, given.Jobs("a-removal", "a", "Succeeded")), decide.BeginRemovals, itself},
		{"a phase that nobody knows", with(given.Below("a", "", "Progressing"), given.ParentRemoving, given.Kept, given.Jobs("a-removal", "a", "Dancing")), decide.BeginRemovals, itself},
		{"what it has held is deleted", with(given.Below("a", "", "Progressing"), given.ParentRemoving, given.Removing, given.Leaves("old"), given.WithSub("old", "z", "z", "Succeeded"), given.Jobs("a-removal", "a", "Progressing")), decide.Withdraw, itself},
		{"it has done all", with(given.Below("a", "", "Progressing"), given.ParentRemoving, given.Removing, given.WithExecution("a-removal", "a-removal", "Succeeded"), given.Jobs("a-removal", "a", "Progressing")), decide.EndRemovals, itself},
		{"its specification is none of the round", with(given.Below("a", "", "Progressing"), given.ParentRemoving, given.Generations(2, 1), given.Jobs("a-removal", "a", "Progressing")), decide.EndRemovals, itself},
		{"its parent has died", with(given.WithoutParent, given.Removing, given.WithExecution("a-removal", "a-removal", "Succeeded"), given.Jobs("a-removal", "a", "Progressing")), decide.EndRemovals, itself},
		{"the next job comes", with(given.Below("b", "a", "Progressing"), given.Kept, given.Jobs("a-removal", "a-removal", "Failed")), decide.Adopt, itself},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(given.Situation(test.options...))
			if got.Do != test.want || got.Wake.String() != test.wake {
				t.Errorf("%s and wakes by %s, want %s and %s: %v", got.Do, got.Wake, test.want, test.wake, got.Err)
			}
		})
	}
}

// TestInterruptedRemovals: an interruption ends a job before anything is removed, and hands
// itself to those that are at work afterwards.
func TestInterruptedRemovals(t *testing.T) {
	all := func(options ...given.Option) given.Option {
		return func(s *decide.Situation) {
			for _, option := range options {
				option(s)
			}
		}
	}
	running := given.Jobs("a", "", "Progressing")
	for _, test := range []struct {
		reason string
		option given.Option
		ends   bool
	}{
		{"everything has succeeded, and the removal would be next", all(running, given.WithExecution("a", "a", "Succeeded"), given.ItemsKept), true},
		{"nothing is to be removed: it comes too late", all(running, given.WithExecution("a", "a", "Succeeded")), false},
		{"the round has begun, and what is held would be deleted next", all(running, given.Removing, given.Leaves("old"), given.WithSub("old", "z", "z", "Succeeded")), true},
		{"what was held goes, and ends first", all(running, given.Removing, given.Leaves("old"), given.WithSub("(old)", "a-removal", "z", "Deleting")), false},
		{"a subinstallation has got the round, and not begun", all(given.Below("a", "", "Progressing"), given.ParentRemoving, given.Jobs("a-removal", "a", "Succeeded")), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(given.Situation(given.Requested("interrupt"), test.option))
			if got.Do != decide.Interrupt || (job.OutcomeOf(got.Err) == job.Terminal) != test.ends {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestUpdateOfKept: an update of data deploys what has kept something anew.
func TestUpdateOfKept(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []given.Option
		want    bool
	}{
		{"nothing is kept", nil, true},
		{"something below was kept", []given.Option{given.Kept}, false},
		{"an item has kept something", []given.Option{given.ItemsKept}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := given.Situation(append([]given.Option{given.Jobs("a", "a", "Succeeded"), given.WithExecution("a", "a", "Succeeded")}, test.options...)...)
			if got := decide.RequestedUpdate(s, v1alpha1.TriggeredByExports); got.Unchanged != test.want {
				t.Errorf("it stays as it is: %t", got.Unchanged)
			}
		})
	}
}
