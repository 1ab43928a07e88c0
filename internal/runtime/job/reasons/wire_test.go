package reasons

import (
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestWire: each function knows its own reasons, and none of an object without one.
func TestWire(t *testing.T) {
	conditions := map[Reason]func(*v1alpha1.Condition) bool{
		Waiting: IsWait, Retrying: IsRetry, ChildrenBlocked: IsBlocked, NotWanted: IsNotWanted, Removing: IsRemoving, ExportsPending: IsExportsPending,
	}
	for want, is := range conditions {
		for reason := range conditions {
			if got := is(&v1alpha1.Condition{Reason: string(reason)}); got != (reason == want) {
				t.Errorf("a condition with %s says %s: %t", reason, want, got)
			}
		}
		if is(nil) || is(&v1alpha1.Condition{}) {
			t.Errorf("nothing says %s", want)
		}
	}
	errors := map[Reason]func(*v1alpha1.Error) bool{
		Aborted: WasAborted, InterruptOperation: WasInterrupted, SiblingImport: FollowsSibling, AllPredecessorsSucceeded: FollowsSibling,
		AllPredecessorsFinished: FollowsSibling, SiblingDeleteError: FollowsSibling, ClusterUnreachable: IsAboutCluster, ConnectionNotAllowed: IsAboutCluster,
	}
	for reason, is := range errors {
		if !is(&v1alpha1.Error{Reason: string(reason)}) || is(nil) || is(&v1alpha1.Error{Reason: string(Waiting)}) {
			t.Errorf("an error with %s is not recognised, or another one is", reason)
		}
	}
}

// TestAwaits: a reason says of one thing at most that it is waited for, so that the order of the
// questions does not matter.
func TestAwaits(t *testing.T) {
	questions := map[string]func(*v1alpha1.Error) bool{"sibling": AwaitsSibling, "import": AwaitsImport, "context": AwaitsContext, "target": AwaitsTarget}
	want := map[Reason]string{
		AllPredecessorsFinished: "sibling", SiblingImport: "sibling", ImportsSatisfied: "import", CalculateContext: "context", GetLandscaperContext: "context",
		NoTargetFound: "target", SecretNotFound: "target", SecretKeyNotFound: "target",
	}
	for _, group := range Table {
		for _, entry := range group.Explanations {
			for name, asks := range questions {
				if got := asks(&v1alpha1.Error{Reason: string(entry.Reason)}); got != (want[entry.Reason] == name) {
					t.Errorf("%s waits for a %s: %t", entry.Reason, name, got)
				}
			}
		}
	}
}
