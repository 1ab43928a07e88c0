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
		{"a held subinstallation does not delay the others", with(running, testbuilders.Written("b"), testbuilders.DropsSubs("old"), testbuilders.WithSub("b", "a", "", "Progressing"), testbuilders.WithSub("old", "z", "z", "Succeeded")), decide.Rest, "Installation b"},
		{"a held subinstallation is removed when all others have succeeded", with(running, testbuilders.Written("b"), testbuilders.DropsSubs("old"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.WithSub("old", "z", "z", "Succeeded")), decide.BeginRemovals, itself},
		{"a held subinstallation stays when another one has failed", with(running, testbuilders.Written("b"), testbuilders.DropsSubs("old"), testbuilders.WithSub("b", "a", "a", "Failed"), testbuilders.WithSub("old", "z", "z", "Succeeded"), testbuilders.Traced), decide.Fail, itself},
		{"a held subinstallation whose own last job has failed is removed", with(running, testbuilders.DropsSubs("old"), testbuilders.WithSub("old", "z", "z", "Failed")), decide.BeginRemovals, itself},
		{"a held subinstallation that another client has deleted goes in the first round", with(running, testbuilders.DropsSubs("old"), testbuilders.WithSub("(old)", "z", "z", "Succeeded")), decide.Rest, "Installation old"},
		{"an item has kept something", with(running, testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.ItemsKept), decide.BeginRemovals, itself},
		{"something is kept below a subinstallation", with(running, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.SubKept), decide.BeginRemovals, itself},
		{"a subinstallation leaves the removal round to its root", with(testbuilders.Below("a", "", "Progressing"), running, testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.ItemsKept), decide.Complete, itself},
		{"a subinstallation without its parent begins the removal round itself", with(testbuilders.WithoutParent, running, testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.ItemsKept), decide.BeginRemovals, itself},
		{"results of another specification do not count, and nothing is removed", with(running, testbuilders.Generations(2, 1), testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.ItemsKept), decide.Fail, itself},
		{"a deletion deletes held subinstallations, too", with(testbuilders.Deleting, testbuilders.DropsSubs("old"), testbuilders.WithSub("old", "z", "z", "Succeeded"), testbuilders.Jobs("a", "z", "Deleting")), decide.Remove, itself},
		{"a data update deploys a subinstallation that has kept something", with(testbuilders.Below("b", "a", "Progressing"), testbuilders.Kept, testbuilders.Jobs("a", "a", "Succeeded")), decide.Adopt, itself},

		// A child that is missing after the store of the cluster was restored.
		{"the Execution was seen in a cache that was not rewound yet", with(running, testbuilders.AwaitingExecution, func(s *decide.Situation) { s.ExecutionAbsent, s.Unsettled = true, true }), decide.Begin, itself},
		{"the Execution does not exist, and nothing was rewound", with(running, testbuilders.AwaitingExecution, func(s *decide.Situation) { s.ExecutionAbsent = true }), decide.Fail, itself},

		// The removal round.
		{"a held subinstallation is deleted in the removal round", with(running, testbuilders.Removing, testbuilders.DropsSubs("old"), testbuilders.WithSub("old", "z", "z", "Succeeded")), decide.DeleteHeld, itself},
		{"a held subinstallation is being deleted", with(running, testbuilders.Removing, testbuilders.DropsSubs("old"), testbuilders.WithSub("(old)", "a-removal", "z", "Deleting")), decide.Rest, "Installation old"},
		{"a held subinstallation cannot be deleted", with(running, testbuilders.Removing, testbuilders.DropsSubs("old"), testbuilders.WithSub("(old)", "a-removal", "a-removal", "DeleteFailed"), testbuilders.Traced), decide.Fail, itself},
		{"a subinstallation that has kept something has not got the round yet", with(running, testbuilders.Removing, testbuilders.Written("b"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.SubKept), decide.Rest, "Installation b"},
		{"a subinstallation is at work in the removal round", with(running, testbuilders.Removing, testbuilders.Written("b"), testbuilders.WithSub("b", "a-removal", "a", "Progressing"), testbuilders.SubKept), decide.Rest, "Installation b"},
		{"the round does not wait for a subinstallation that has kept nothing", with(running, testbuilders.Removing, testbuilders.Written("b", "c"), testbuilders.WithSub("b", "a", "a", "Succeeded"), testbuilders.WithSub("c", "a-removal", "a-removal", "Succeeded")), decide.Complete, itself},
		{"the Execution has not got the round yet", with(running, testbuilders.Removing, testbuilders.WithExecution("a", "a", "Succeeded"), testbuilders.ItemsKept), decide.Rest, "Execution x"},
		{"the Execution is at work", with(running, testbuilders.Removing, testbuilders.WithExecution("a-removal", "a", "Progressing")), decide.Rest, "Execution x"},
		{"the Execution has kept nothing", with(running, testbuilders.Removing, testbuilders.WithExecution("a", "a", "Succeeded")), decide.Complete, itself},
		{"the Execution is done", with(running, testbuilders.Removing, testbuilders.WithExecution("a-removal", "a-removal", "Succeeded")), decide.Complete, itself},
		{"the Execution has failed", with(running, testbuilders.Removing, testbuilders.WithExecution("a-removal", "a-removal", "Failed")), decide.Fail, itself},
		{"something is kept for ever: there is no third round", with(running, testbuilders.Removing, testbuilders.WithExecution("a-removal", "a-removal", "Succeeded"), testbuilders.ItemsKept), decide.Complete, itself},
		{"the specification has changed during the removal round", with(running, testbuilders.Removing, testbuilders.Generations(2, 1)), decide.Fail, itself},

		// The removal round of a subinstallation.
		{"a subinstallation that has kept something gets the round", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Kept, testbuilders.Jobs("a", "a", "Succeeded")), decide.Adopt, itself},
		{"a subinstallation that has kept nothing rests", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Jobs("a", "a", "Succeeded")), decide.Rest, settled},
		{"a subinstallation that has ended the round rests", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Jobs("a-removal", "a-removal", "Succeeded")), decide.Rest, settled},
		{"a subinstallation gets the round from a parent that got it, too", with(testbuilders.Below("a-removal", "a", "Progressing"), testbuilders.Kept, testbuilders.Jobs("a", "a", "Succeeded")), decide.Adopt, itself},
		{"a held subinstallation waits for the removal round", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentDropsSubs("x"), testbuilders.Kept, testbuilders.Jobs("z", "z", "Succeeded")), decide.Rest, settled},
		{"a held subinstallation that is deleted gets the round", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.ParentDropsSubs("x"), testbuilders.Deleting, testbuilders.Jobs("z", "z", "Succeeded")), decide.Adopt, itself},
		{"a wanted subinstallation that another client deletes in the round waits for the next job", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Deleting, testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.DeletionReported), decide.Rest, settled},
		{"a subinstallation writes no children in the round", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Kept, testbuilders.Jobs("a-removal", "a", "Succeeded")), decide.BeginRemovals, itself},
		{"a user has deleted a wanted subinstallation before the removal round: the next job deletes it, and not this one", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Kept, testbuilders.Deleting, testbuilders.Jobs("a-removal", "a", "Succeeded")), decide.BeginRemovals, itself},
		{"the removal round deletes a subinstallation that is not wanted", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.ParentDropsSubs("x"), testbuilders.Kept, testbuilders.Deleting, testbuilders.Jobs("a-removal", "a", "Succeeded")), decide.Begin, itself},
		{"a subinstallation is deleted by the removal round of its parent, which is not wanted any more", with(testbuilders.Below("a-removal", "a", "Deleting"), testbuilders.Deleting, testbuilders.Jobs("a-removal", "a", "Succeeded")), decide.Begin, itself},
		{"a subinstallation in an unknown phase begins the round again", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Kept, testbuilders.Jobs("a-removal", "a", "Dancing")), decide.BeginRemovals, itself},
		{"a subinstallation deletes what it has held", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Removing, testbuilders.DropsSubs("old"), testbuilders.WithSub("old", "z", "z", "Succeeded"), testbuilders.Jobs("a-removal", "a", "Progressing")), decide.DeleteHeld, itself},
		{"a subinstallation ends the round when all children have", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Removing, testbuilders.WithExecution("a-removal", "a-removal", "Succeeded"), testbuilders.Jobs("a-removal", "a", "Progressing")), decide.EndRemovals, itself},
		{"a changed specification does not fail the round of a subinstallation", with(testbuilders.Below("a", "", "Progressing"), testbuilders.ParentRemoving, testbuilders.Generations(2, 1), testbuilders.Jobs("a-removal", "a", "Progressing")), decide.EndRemovals, itself},
		{"a subinstallation without its parent ends the round", with(testbuilders.WithoutParent, testbuilders.Removing, testbuilders.WithExecution("a-removal", "a-removal", "Succeeded"), testbuilders.Jobs("a-removal", "a", "Progressing")), decide.EndRemovals, itself},
		{"a subinstallation takes the next job after a failed round", with(testbuilders.Below("b", "a", "Progressing"), testbuilders.Kept, testbuilders.Jobs("a-removal", "a-removal", "Failed")), decide.Adopt, itself},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.Next(testbuilders.Situation(test.options...))
			if got.Do != test.want || got.Wake.String() != test.wake {
				t.Errorf("%s and waits for %s, want %s and %s: %v", got.Do, got.Wake, test.want, test.wake, got.Err)
			}
		})
	}
}

// TestInterruptedRemovals: an interruption ends a job before anything is removed, and is passed to
// the children that are at work afterwards.
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
		{"an interruption comes too late when nothing is to be removed", all(running, testbuilders.WithExecution("a", "a", "Succeeded")), false},
		{"the round has begun, and what is held would be deleted next", all(running, testbuilders.Removing, testbuilders.DropsSubs("old"), testbuilders.WithSub("old", "z", "z", "Succeeded")), true},
		{"a held subinstallation is being deleted, and ends first", all(running, testbuilders.Removing, testbuilders.DropsSubs("old"), testbuilders.WithSub("(old)", "a-removal", "z", "Deleting")), false},
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

// TestUpdateOfKept: a data update deploys again what has kept something.
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
