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

// TestHandsOver: when a subinstallation gets the job of its parent. One that is to stay
// gets it with all others; one that is to go gets it before them.
func TestHandsOver(t *testing.T) {
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
		{"the parent has ended the job: who comes later gets the next one", staying, testbuilders.Below("b", "b", "Progressing"), false},
		{"it has the job already", []testbuilders.Option{testbuilders.Jobs("b", "a", "Init")}, testbuilders.Below("b", "a", "Progressing"), false},
		{"it has ended the job already", []testbuilders.Option{testbuilders.Jobs("b", "b", "Succeeded")}, testbuilders.Below("b", "a", "Progressing"), false},
		{"it is new", nil, testbuilders.Below("b", "a", "Progressing"), true},
		{"it goes, and others wait for that", going, testbuilders.Below("b", "a", "CleanupOrphaned"), true},
		{"it goes while the others are deployed", going, testbuilders.Below("b", "a", "Progressing"), true},
		{"it goes with its parent", going, testbuilders.Below("b", "a", "Deleting"), true},
		{"it goes with its parent, which has just begun to", going, testbuilders.Below("b", "a", "TriggerDelete"), true},
		{"the parent waits for its importers before it goes", going, testbuilders.Below("b", "a", "InitDelete"), false},
		{"it was deleted, and nothing holds it", []testbuilders.Option{testbuilders.Deleting, testbuilders.Jobs("a", "a", "Succeeded")}, testbuilders.Below("b", "a", "Deleting"), false},
		{"one that stays gets no job of a parent that goes", staying, testbuilders.Below("b", "a", "Deleting"), false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			f := testbuilders.Situation(append(test.options, test.parent)...).Family
			if got := siblings.HandsOver(f); got != test.want {
				t.Errorf("%t", got)
			}
			if siblings.HandsOver(f) && !siblings.Awaited(f) {
				t.Error("a job that is not awaited is handed over")
			}
		})
	}
}

// TestHandsOverNothingToLose: a parent that could go before its children gives them no job.
func TestHandsOverNothingToLose(t *testing.T) {
	f := testbuilders.Situation(testbuilders.Below("b", "a", "Progressing")).Family
	f.Parent.Finalizers = nil
	if siblings.HandsOver(f) {
		t.Error("a parent without its finalizer hands over a job")
	}
}

// TestStaysUntilNext: a subinstallation that somebody has deleted goes with the next job
// of its parent, and says so.
func TestStaysUntilNext(t *testing.T) {
	deleted := []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Succeeded")}
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    bool
	}{
		{"nobody has deleted it", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Below("a", "a", "Succeeded")}, false},
		{"somebody has, and its parent rests", append(deleted, testbuilders.Below("a", "a", "Succeeded")), true},
		{"its parent has a job for it", append(deleted, testbuilders.Below("b", "a", "Progressing")), false},
		{"it goes already", []testbuilders.Option{testbuilders.Deleting, testbuilders.Finalized, testbuilders.Jobs("a", "a", "Deleting"), testbuilders.Below("a", "a", "Succeeded")}, false},
		{"nothing holds it", []testbuilders.Option{testbuilders.Deleting, testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.Below("a", "a", "Succeeded")}, false},
		{"a root goes at once", deleted, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := siblings.StaysUntilNext(testbuilders.Situation(test.options...).Family); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
	t.Run("the status tells whom to ask, once", func(t *testing.T) {
		s := testbuilders.Situation(append(deleted, testbuilders.Below("a", "a", "Succeeded"))...)
		if siblings.Explained(s.Family) {
			t.Error("it is told before anything was written")
		}
		testbuilders.SaidSo(&s)
		message := s.Inst.Status.Conditions[0].Message
		if !siblings.Explained(s.Family) || !strings.Contains(message, "Installation parent") || !strings.Contains(message, v1alpha1.OperationAnnotation+": reconcile") {
			t.Errorf("it says %q", message)
		}
		s.Parent.Name = "another"
		if siblings.Explained(s.Family) {
			t.Error("what is said of another parent counts")
		}
	})
}

// TestChildrenOfJob: which children a job still waits for, which are gone, and whether
// they are deployed as they are specified.
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
		{"all have ended the job", []testbuilders.Option{done, testbuilders.Written("x")}, "", "", 0, true},
		{"one has not", []testbuilders.Option{done, late, testbuilders.Written("x", "y")}, "y", "", 0, true},
		{"one has ended another job", []testbuilders.Option{testbuilders.WithSub("x", "c", "c", "Succeeded")}, "x", "", 0, true},
		{"one that was written is gone: somebody has forced that", []testbuilders.Option{done, testbuilders.Written("x", "y")}, "", "y", 0, true},
		{"nothing is noted, so that nothing can be missed", []testbuilders.Option{done}, "", "", 0, true},
		{"one is on its way out", []testbuilders.Option{testbuilders.WithSub("(x)", "b", "b", "Succeeded"), late}, "y", "", 1, true},
		{"somebody has changed one since its job", []testbuilders.Option{done, generations(2, 1)}, "", "", 0, false},
		{"the items were changed since their job", []testbuilders.Option{done, testbuilders.WithExecution("b", "b", "Succeeded"), items(2, 1)}, "", "", 0, false},
		{"the items are as they were", []testbuilders.Option{done, testbuilders.WithExecution("b", "b", "Succeeded"), items(2, 2)}, "", "", 0, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			f := testbuilders.Situation(test.options...).Family
			name := ""
			if sub, is := siblings.Busy(f.Subs, "b"); is {
				name = sub.Name
			}
			if absent := strings.Join(siblings.Absent(f), " "); name != test.busy || absent != test.absent {
				t.Errorf("busy is %q, gone is %q", name, absent)
			}
			if len(siblings.Leaving(f)) != test.leaving || siblings.AreDeployed(f) != test.deployed {
				t.Errorf("%d leave; deployed: %t", len(siblings.Leaving(f)), siblings.AreDeployed(f))
			}
		})
	}
}

// TestRemoved: which children were removed by another client. A deletion removes all of them
// itself, and an Execution is waited for when it is written.
func TestRemoved(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    string
	}{
		{"both, while the job waits for them", []testbuilders.Option{testbuilders.AwaitingExecution, testbuilders.Written("y"), testbuilders.Jobs("b", "a", "Progressing")}, "Execution x, Installation y"},
		{"and after it has failed", []testbuilders.Option{testbuilders.AwaitingExecution, testbuilders.Written("y"), testbuilders.Jobs("b", "b", "Failed")}, "Execution x, Installation y"},
		{"all are there", []testbuilders.Option{testbuilders.WithExecution("b", "", "Progressing"), testbuilders.Written("y"), testbuilders.WithSub("y", "b", "", "Progressing"), testbuilders.Jobs("b", "a", "Progressing")}, ""},
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
		{"nobody", nil, ""},
		{"one", names[:1], "n00"},
		{"as many as there is room for", names[:20], strings.Join(names[:20], ", ")},
		{"one more", names[:21], strings.Join(names[:20], ", ") + " and 1 more"},
		{"many", names, strings.Join(names[:20], ", ") + " and 5 more"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := siblings.Listed(test.names); got != test.want {
				t.Errorf("%q", got)
			}
		})
	}
}

// TestMindsImporters: who has to look for importers before it goes.
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
		{"who exports nothing goes", nil, false},
		{"who exports something waits for importers", []testbuilders.Option{testbuilders.ExportsSomething}, true},
		{"unless somebody says that nobody imports it", []testbuilders.Option{testbuilders.ExportsSomething, hint}, false},
		{"that it imports nothing says nothing about others", []testbuilders.Option{testbuilders.ExportsSomething, other}, true},
		{"or that they do not matter", []testbuilders.Option{testbuilders.ExportsSomething, testbuilders.Annotated(v1alpha1.DeleteIgnoreSuccessorsAnnotation, "true")}, false},
		{"anything but true is no permission", []testbuilders.Option{testbuilders.ExportsSomething, testbuilders.Annotated(v1alpha1.DeleteIgnoreSuccessorsAnnotation, "yes")}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := siblings.MindsImporters(testbuilders.Situation(test.options...).Inst); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
}
