package siblings_test

import (
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/siblings"
)

// TestPassesJobOn: when a subinstallation gets the job of its parent. One that stays gets the job
// with all others; one that is being deleted gets it before them.
func TestPassesJobOn(t *testing.T) {
	going := []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}
	staying := []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded")}
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		parent  testbuilders.Option
		want    bool
	}{
		{"a root has no parent", staying, func(*decide.Situation) {}, false},
		{"the parent has written everything", staying, testbuilders.Below("b", "a", "Progressing"), true},
		{"the parent still writes", staying, testbuilders.Below("b", "a", "CreateSubInstallations"), false},
		{"the parent waits for its imports", staying, testbuilders.Below("b", "a", "Init"), false},
		{"the parent has ended the job: a later subinstallation gets the next one", staying, testbuilders.Below("b", "b", "Progressing"), false},
		{"the subinstallation has the job already", []testbuilders.Option{testbuilders.Jobs("b", "a", "Init")}, testbuilders.Below("b", "a", "Progressing"), false},
		{"the subinstallation has ended the job already", []testbuilders.Option{testbuilders.Jobs("b", "b", "Succeeded")}, testbuilders.Below("b", "a", "Progressing"), false},
		{"the subinstallation is new", nil, testbuilders.Below("b", "a", "Progressing"), true},
		{"the subinstallation is being deleted, and others wait for that", going, testbuilders.Below("b", "a", "CleanupOrphaned"), true},
		{"the subinstallation is deleted while the others are deployed", going, testbuilders.Below("b", "a", "Progressing"), true},
		{"the subinstallation is deleted with its parent", going, testbuilders.Below("b", "a", "Deleting"), true},
		{"the subinstallation is deleted with its parent, whose deletion has just begun", going, testbuilders.Below("b", "a", "TriggerDelete"), true},
		{"the parent waits for its importers before its deletion", going, testbuilders.Below("b", "a", "InitDelete"), false},
		{"the subinstallation was deleted, and has no finalizer", []testbuilders.Option{testbuilders.Deleting, testbuilders.Jobs("a", "a", "Succeeded")}, testbuilders.Below("b", "a", "Deleting"), false},
		{"a subinstallation that stays gets no job of a terminating parent", staying, testbuilders.Below("b", "a", "Deleting"), false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			f := testbuilders.Situation(append(test.options, test.parent)...).Family
			if got := siblings.ParentHasJob(f); got != test.want {
				t.Errorf("%t", got)
			}
			if siblings.ParentHasJob(f) && !siblings.ParentJobPending(f) {
				t.Error("a job that is not awaited is assigned")
			}
		})
	}
}

// TestPassesNoJobOn: a parent that could be deleted before its children assigns no job to
// them.
func TestPassesNoJobOn(t *testing.T) {
	f := testbuilders.Situation(testbuilders.Below("b", "a", "Progressing")).Family
	f.Parent.Finalizers = nil
	if siblings.ParentHasJob(f) {
		t.Error("a parent without its finalizer assigns a job")
	}
}

// TestStaysUntilNext: a subinstallation that another client has deleted goes with the next job of
// its parent, and says so.
func TestStaysUntilNext(t *testing.T) {
	deleted := []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    bool
	}{
		{"the subinstallation is not deleted", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Below("a", "a", "Succeeded")}, false},
		{"the subinstallation was deleted, and its parent rests", append(deleted, testbuilders.Below("a", "a", "Succeeded")), true},
		{"the subinstallation was deleted, and its parent has a job for it", append(deleted, testbuilders.Below("b", "a", "Progressing")), false},
		{"the deletion of the subinstallation is at work already", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Deleting"), testbuilders.Below("a", "a", "Succeeded")}, false},
		{"the subinstallation was deleted, and has no finalizer", []testbuilders.Option{testbuilders.Deleting, testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Below("a", "a", "Succeeded")}, false},
		{"a root is deleted at once", deleted, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := siblings.DeletedWithNextJob(testbuilders.Situation(test.options...).Family); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
	t.Run("the status says how to request the deletion, once", func(t *testing.T) {
		s := testbuilders.Situation(append(deleted, testbuilders.Below("a", "a", "Succeeded"))...)
		if siblings.HasDeletionCondition(s.Family) {
			t.Error("the wait is reported before anything was written")
		}
		testbuilders.DeletionReported(&s)
		message := s.Inst.Status.Conditions[0].Message
		if !siblings.HasDeletionCondition(s.Family) || !strings.Contains(message, "Installation parent") || !strings.Contains(message, v1alpha1.OperationAnnotation+": reconcile") {
			t.Errorf("it says %q", message)
		}
		s.Parent.Name = "another"
		if siblings.HasDeletionCondition(s.Family) {
			t.Error("what is said of another parent counts")
		}
	})
}

// TestChildrenOfJob: which children a job still waits for, which are missing, and whether they are
// deployed as they are specified.
func TestChildrenOfJob(t *testing.T) {
	generations := func(spec, observed int64) testbuilders.Option {
		return func(s *decide.Situation) {
			s.Subs[len(s.Subs)-1].Generation, s.Subs[len(s.Subs)-1].Status.ObservedGeneration = spec, observed
		}
	}
	items := func(spec, observed int64) testbuilders.Option {
		return func(s *decide.Situation) { s.Exec.Generation, s.Exec.Status.ObservedGeneration = spec, observed }
	}
	done, late := testbuilders.WithSub("x", "b", "b", "Succeeded"), testbuilders.WithSub("y", "b", "a", "Progressing")
	for _, test := range []struct {
		reason       string
		options      []testbuilders.Option
		busy, absent string
		leaving      int
		deployed     bool
	}{
		{"no children", nil, "", "", 0, true},
		{"all subinstallations have ended the job", []testbuilders.Option{done, testbuilders.Written("x")}, "", "", 0, true},
		{"a subinstallation has not ended the job", []testbuilders.Option{done, late, testbuilders.Written("x", "y")}, "y", "", 0, true},
		{"a subinstallation has ended another job", []testbuilders.Option{testbuilders.WithSub("x", "c", "c", "Succeeded")}, "x", "", 0, true},
		{"a subinstallation that was written is missing: another client has removed it", []testbuilders.Option{done, testbuilders.Written("x", "y")}, "", "y", 0, true},
		{"no subinstallation is noted, so that none can be missing", []testbuilders.Option{done}, "", "", 0, true},
		{"a subinstallation is being deleted", []testbuilders.Option{testbuilders.WithSub("(x)", "b", "b", "Succeeded"), late}, "y", "", 1, true},
		{"a subinstallation was changed since its job", []testbuilders.Option{done, generations(2, 1)}, "", "", 0, false},
		{"the items were changed since their job", []testbuilders.Option{done, testbuilders.WithExecution("b", "b", "Succeeded"), items(2, 1)}, "", "", 0, false},
		{"the items are as they were", []testbuilders.Option{done, testbuilders.WithExecution("b", "b", "Succeeded"), items(2, 2)}, "", "", 0, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			f := testbuilders.Situation(test.options...).Family
			name := ""
			if sub, is := siblings.FirstUnfinished(f.Subs, "b"); is {
				name = sub.Name
			}
			if absent := strings.Join(siblings.Absent(f), " "); name != test.busy || absent != test.absent {
				t.Errorf("busy is %q, gone is %q", name, absent)
			}
			if len(siblings.Terminating(f)) != test.leaving || siblings.AreDeployed(f) != test.deployed {
				t.Errorf("%d leave; deployed: %t", len(siblings.Terminating(f)), siblings.AreDeployed(f))
			}
		})
	}
}

// TestRemoved: which children were removed by another client. A deletion removes all of them
// itself, and a job waits for an Execution that is written.
func TestRemoved(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    string
	}{
		{"both children are removed while the job waits for them", []testbuilders.Option{testbuilders.AwaitingExecution, testbuilders.Written("y"), testbuilders.Jobs("b", "a", "Progressing")}, "Execution x, Installation y"},
		{"both children are removed after the job has failed", []testbuilders.Option{testbuilders.AwaitingExecution, testbuilders.Written("y"), testbuilders.Jobs("b", "b", "Failed")}, "Execution x, Installation y"},
		{"all children exist", []testbuilders.Option{testbuilders.WithExecution("b", "", "Progressing"), testbuilders.Written("y"), testbuilders.WithSub("y", "b", "", "Progressing"), testbuilders.Jobs("b", "a", "Progressing")}, ""},
		{"another Execution follows", []testbuilders.Option{testbuilders.AwaitingExecution, testbuilders.Jobs("b", "a", "CleanupOrphaned")}, ""},
		{"a deletion", []testbuilders.Option{testbuilders.AwaitingExecution, testbuilders.Written("y"), testbuilders.Jobs("b", "a", "Deleting")}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := testbuilders.Situation(test.options...)
			if got := strings.Join(siblings.Removed(s.Family), ", "); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestListed: a message names some, and never loses how many there are.
func TestListed(t *testing.T) {
	var names []string
	for i := range 25 {
		names = append(names, fmt.Sprintf("n%02d", i))
	}
	for _, test := range []struct {
		reason string
		names  []string
		want   string
	}{
		{"no names", nil, ""},
		{"one name", names[:1], "n00"},
		{"as many names as fit", names[:20], strings.Join(names[:20], ", ")},
		{"one name more than fits", names[:21], strings.Join(names[:20], ", ") + " and 1 more"},
		{"many", names, strings.Join(names[:20], ", ") + " and 5 more"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := siblings.JoinNames(test.names); got != test.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestMindsImporters: which Installation has to wait for importers before it is deleted.
func TestMindsImporters(t *testing.T) {
	hint := func(s *decide.Situation) {
		s.Inst.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingExports: true}
	}
	other := func(s *decide.Situation) {
		s.Inst.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingImports: true}
	}
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    bool
	}{
		{"an Installation without exports is deleted at once", nil, false},
		{"an Installation with exports waits for importers", []testbuilders.Option{testbuilders.ExportsSomething}, true},
		{"an Installation with the hint that no sibling imports its exports does not wait", []testbuilders.Option{testbuilders.ExportsSomething, hint}, false},
		{"an Installation with the hint that it imports nothing from siblings waits for importers", []testbuilders.Option{testbuilders.ExportsSomething, other}, true},
		{"an Installation that ignores its importers does not wait", []testbuilders.Option{testbuilders.ExportsSomething, testbuilders.Annotated(v1alpha1.DeleteIgnoreSuccessorsAnnotation, "true")}, false},
		{"an Installation whose annotation is not exactly true waits for importers", []testbuilders.Option{testbuilders.ExportsSomething, testbuilders.Annotated(v1alpha1.DeleteIgnoreSuccessorsAnnotation, "yes")}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := siblings.MustAwaitImporters(testbuilders.Situation(test.options...).Inst); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
}
