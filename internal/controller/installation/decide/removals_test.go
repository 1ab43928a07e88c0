package decide_test

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/runtime/job"
)

func TestDecideRemovals(t *testing.T) {
	const settled, itself = "nothing, the job has ended", "the step itself"
	with := func(options ...testbuilders.Option) []testbuilders.Option {
		return append([]testbuilders.Option{testbuilders.Finalized}, options...)
	}
	running := testbuilders.Jobs("a", "", "Progressing")
	tests := []struct {
		reason  string
		options []testbuilders.Option
		want    decide.Step
		wake    string
	}{
		// The first round.
		{"one that is held keeps nobody waiting", with(running, testbuilders.Written("b"), testbuilders.Leaves("old"), testbuilders.WithSub("b", "a", "", "Progressing"), testbuilders.WithSub("old", "z", "z", "Succeeded")), decide.Rest, "Installation b"},
		{"it is removed when all others have succeeded", with(running, testbuilders.Written("b"), testbuilders.Leaves("old"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.WithSub("old", "z", "z", "Succeeded")), decide.BeginRemovals, itself},
		{"it stays when another one has failed", with(running, testbuilders.Written("b"), testbuilders.Leaves("old"), testbuilders.WithSub("b", "a", "a", "Failed"), testbuilders.WithSub("old", "z", "z", "Succeeded"), testbuilders.Traced), decide.Fail, itself},
		{"that its own last job has failed says nothing", with(running, testbuilders.Leaves("old"), testbuilders.WithSub("old", "z", "z", "Failed")), decide.BeginRemovals, itself},
		{"somebody has deleted it meanwhile: it goes in this round", with(running, testbuilders.Leaves("old"), testbuilders.WithSub("(old)", "z", "z", "Succeeded")), decide.Rest, "Installation old"},
		{"an item has kept something", with(running, testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.ItemsKept), decide.BeginRemovals, itself},
		{"something is kept below a subinstallation", with(running, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.SubKept), decide.BeginRemovals, itself},
		{"a subinstallation leaves that to its root", with(testbuilders.Below("a", "", "Progressing"), running, testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.ItemsKept), decide.Complete, itself},
		{"without its parent it does it itself", with(testbuilders.WithoutParent, running, testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.ItemsKept), decide.BeginRemovals, itself},
		{"results of another specification are none: nothing is removed", with(running, testbuilders.Generations(2, 1), testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.ItemsKept), decide.Fail, itself},
		{"a deletion takes what is held with it", with(testbuilders.Deleting, testbuilders.Leaves("old"), testbuilders.WithSub("old", "z", "z", "Succeeded"), testbuilders.Jobs("a", "z", "Deleting")), decide.Remove, itself},
		{"an update of data does not leave as it is what has kept something", with(testbuilders.Below("b", "a", "Progressing"), testbuilders.Kept, testbuilders.Jobs("a", "a", "Succeeded")), decide.Adopt, itself},

		// A child that is missing after the store of the cluster was restored.
		{"the Execution was seen in a cache that was not rewound yet", with(running, testbuilders.AwaitingExecution, func(s *decide.Situation) { s.Gone, s.Unsettled = true, true }), decide.Begin, itself},
		{"the Execution is gone, and nothing was rewound", with(running, testbuilders.AwaitingExecution, func(s *decide.Situation) { s.Gone = true }), decide.Fail, itself},

		// The removal round.
		{"what was held is deleted", with(running, testbuilders.Removing, testbuilders.Leaves("old"), testbuilders.WithSub("old", "z", "z", "Succeeded")), decide.Withdraw, itself},
		{"it goes", with(running, testbuilders.Removing, testbuilders.Leaves("old"), testbuilders.WithSub("(old)", "a-removal", "z", "Deleting")), decide.Rest, "Installation old"},
		{"it cannot be deleted", with(running, testbuilders.Removing, testbuilders.Leaves("old"), testbuilders.WithSub("(old)", "a-removal", "a-removal", "DeleteFailed"), testbuilders.Traced), decide.Fail, itself},
		{"one that has kept something has not got the round yet", with(running, testbuilders.Removing, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.SubKept), decide.Rest, "Installation b"},
		{"it is at work", with(running, testbuilders.Removing, testbuilders.Written("b"), testbuilders.WithSub("b", "a-removal", "a", "Progressing"), testbuilders.SubKept), decide.Rest, "Installation b"},
		{"one that has kept nothing is not waited for", with(running, testbuilders.Removing, testbuilders.Written("b", "c"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.WithSub("c", "a-removal", "a-removal", "Succeeded")), decide.Complete, itself},
		{"the Execution has not got the round yet", with(running, testbuilders.Removing, testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.ItemsKept), decide.Rest, "Execution x"},
		{"the Execution is at work", with(running, testbuilders.Removing, testbuilders.WithExecution("a-removal", "a", "Progressing")), decide.Rest, "Execution x"},
		{"the Execution has kept nothing", with(running, testbuilders.Removing, testbuilders.WithExecution("a", "a", "Succeeded")), decide.Complete, itself},
		{"the Execution is done", with(running, testbuilders.Removing, testbuilders.WithExecution("a-removal", "a-removal", "Succeeded")), decide.Complete, itself},
		{"the Execution has failed", with(running, testbuilders.Removing, testbuilders.WithExecution("a-removal", "a-removal", "Failed")), decide.Fail, itself},
		{"something is kept for ever: there is no third round", with(running, testbuilders.Removing, testbuilders.WithExecution("a-removal", "a-removal", "Succeeded"), testbuilders.ItemsKept), decide.Complete, itself},
		{"the specification has changed meanwhile", with(running, testbuilders.Removing, testbuilders.Generations(2, 1)), decide.Fail, itself},

		// That of a subinstallation.
		{"it has kept something: it gets the round", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Kept, testbuilders.Jobs("a", "a", "Succeeded")), decide.Adopt, itself},
		{"it has kept nothing", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Jobs("a", "a", "Succeeded")), decide.Rest, settled},
		{"it has done the round", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Jobs("a-removal", "a-removal", "Succeeded")), decide.Rest, settled},
		{"the round comes from a parent that has got it itself", with(testbuilders.Below("a-removal", "a", "Progressing"), testbuilders.Kept, testbuilders.Jobs("a", "a", "Succeeded")), decide.Adopt, itself},
		{"it is held and waits", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentLeaves("x"), testbuilders.Kept, testbuilders.Jobs("z", "z", "Succeeded")), decide.Rest, settled},
		{"it was held and is deleted", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.ParentLeaves("x"), testbuilders.Deleting, testbuilders.Jobs("z", "z", "Succeeded")), decide.Adopt, itself},
		{"it is wanted, and somebody has deleted it in the round", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Deleting, testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.SaidSo), decide.Rest, settled},
		{"it writes no children", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Kept, testbuilders.Jobs("a-removal", "a", "Succeeded")), decide.BeginRemovals, itself},
		{"a phase that nobody knows", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Kept, testbuilders.Jobs("a-removal", "a", "Dancing")), decide.BeginRemovals, itself},
		{"what it has held is deleted", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Removing, testbuilders.Leaves("old"), testbuilders.WithSub("old", "z", "z", "Succeeded"), testbuilders.Jobs("a-removal", "a", "Progressing")), decide.Withdraw, itself},
		{"it has done all", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Removing, testbuilders.WithExecution("a-removal", "a-removal", "Succeeded"), testbuilders.Jobs("a-removal", "a", "Progressing")), decide.EndRemovals, itself},
		{"its specification is none of the round", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Generations(2, 1), testbuilders.Jobs("a-removal", "a", "Progressing")), decide.EndRemovals, itself},
		{"its parent has died", with(testbuilders.WithoutParent, testbuilders.Removing, testbuilders.WithExecution("a-removal", "a-removal", "Succeeded"), testbuilders.Jobs("a-removal", "a", "Progressing")), decide.EndRemovals, itself},
		{"the next job comes", with(testbuilders.Below("b", "a", "Progressing"), testbuilders.Kept, testbuilders.Jobs("a-removal", "a-removal", "Failed")), decide.Adopt, itself},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(testbuilders.Situation(test.options...))
			if got.Do != test.want || got.Wake.String() != test.wake {
				t.Errorf("%s and wakes by %s, want %s and %s: %v", got.Do, got.Wake, test.want, test.wake, got.Err)
			}
		})
	}
}

// TestInterruptedRemovals: an interruption ends a job before anything is removed, and hands
// itself to those that are at work afterwards.
func TestInterruptedRemovals(t *testing.T) {
	all := func(options ...testbuilders.Option) testbuilders.Option {
		return func(s *decide.Situation) {
			for _, option := range options {
				option(s)
			}
		}
	}
	running := testbuilders.Jobs("a", "", "Progressing")
	for _, test := range []struct {
		reason string
		option testbuilders.Option
		ends   bool
	}{
		{"everything has succeeded, and the removal would be next", all(running, testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.ItemsKept), true},
		{"nothing is to be removed: it comes too late", all(running, testbuilders.WithExecution("a", "a", "Succeeded")), false},
		{"the round has begun, and what is held would be deleted next", all(running, testbuilders.Removing, testbuilders.Leaves("old"), testbuilders.WithSub("old", "z", "z", "Succeeded")), true},
		{"what was held goes, and ends first", all(running, testbuilders.Removing, testbuilders.Leaves("old"), testbuilders.WithSub("(old)", "a-removal", "z", "Deleting")), false},
		{"a subinstallation has got the round, and not begun", all(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Jobs("a-removal", "a", "Succeeded")), true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(testbuilders.Situation(testbuilders.Requested("interrupt"), test.option))
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
		options []testbuilders.Option
		want    bool
	}{
		{"nothing is kept", nil, true},
		{"something below was kept", []testbuilders.Option{testbuilders.Kept}, false},
		{"an item has kept something", []testbuilders.Option{testbuilders.ItemsKept}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := testbuilders.Situation(append([]testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.WithExecution("a", "a", "Succeeded")}, test.options...)...)
			if got := decide.RequestedUpdate(s, v1alpha1.TriggeredByExports); got.Unchanged != test.want {
				t.Errorf("it stays as it is: %t", got.Unchanged)
			}
		})
	}
}
