package siblings_test

import (
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/model/siblings"
)

// TestHandsOver: when a subinstallation gets the job of its parent. One that is to stay
// gets it with all others; one that is to go gets it before them.
func TestHandsOver(t *testing.T) {
	going := []given.Option{given.Deleting, given.Finalized, given.Jobs("a", "a", "Succeeded")}
	staying := []given.Option{given.Jobs("a", "a", "Succeeded")}
	for _, test := range []struct {
		reason  string
		options []given.Option
		parent  given.Option
		want    bool
	}{
		{"a root has no parent", staying, func(*decide.Situation) {}, false},
		{"the parent has written everything", staying, given.Below("b", "a", "Progressing"), true},
		{"the parent still writes", staying, given.Below("b", "a", "CreateSubInstallations"), false},
		{"the parent waits for its imports", staying, given.Below("b", "a", "Init"), false},
		{"the parent has ended the job: who comes later gets the next one", staying, given.Below("b", "b", "Progressing"), false},
		{"it has the job already", []given.Option{given.Jobs("b", "a", "Init")}, given.Below("b", "a", "Progressing"), false},
		{"it has ended the job already", []given.Option{given.Jobs("b", "b", "Succeeded")}, given.Below("b", "a", "Progressing"), false},
		{"it is new", nil, given.Below("b", "a", "Progressing"), true},
		{"it goes, and others wait for that", going, given.Below("b", "a", "CleanupOrphaned"), true},
		{"it goes while the others are deployed", going, given.Below("b", "a", "Progressing"), true},
		{"it goes with its parent", going, given.Below("b", "a", "Deleting"), true},
		{"it goes with its parent, which has just begun to", going, given.Below("b", "a", "TriggerDelete"), true},
		{"the parent waits for its importers before it goes", going, given.Below("b", "a", "InitDelete"), false},
		{"it was deleted, and nothing holds it", []given.Option{given.Deleting, given.Jobs("a", "a", "Succeeded")}, given.Below("b", "a", "Deleting"), false},
		{"one that stays gets no job of a parent that goes", staying, given.Below("b", "a", "Deleting"), false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			f := given.Situation(append(test.options, test.parent)...).Family
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
	f := given.Situation(given.Below("b", "a", "Progressing")).Family
	f.Parent.Finalizers = nil
	if siblings.HandsOver(f) {
		t.Error("a parent without its finalizer hands over a job")
	}
}

// TestStaysUntilNext: a subinstallation that somebody has deleted goes with the next job
// of its parent, and says so.
func TestStaysUntilNext(t *testing.T) {
	deleted := []given.Option{given.Deleting, given.Finalized, given.Jobs("a", "a", "Succeeded")}
	for _, test := range []struct {
		reason  string
		options []given.Option
		want    bool
	}{
		{"nobody has deleted it", []given.Option{given.Jobs("a", "a", "Succeeded"), given.Below("a", "a", "Succeeded")}, false},
		{"somebody has, and its parent rests", append(deleted, given.Below("a", "a", "Succeeded")), true},
		{"its parent has a job for it", append(deleted, given.Below("b", "a", "Progressing")), false},
		{"it goes already", []given.Option{given.Deleting, given.Finalized, given.Jobs("a", "a", "Deleting"), given.Below("a", "a", "Succeeded")}, false},
		{"nothing holds it", []given.Option{given.Deleting, given.Jobs("a", "a", "Succeeded"), given.Below("a", "a", "Succeeded")}, false},
		{"a root goes at once", deleted, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := siblings.StaysUntilNext(given.Situation(test.options...).Family); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
	t.Run("the status tells whom to ask, once", func(t *testing.T) {
		s := given.Situation(append(deleted, given.Below("a", "a", "Succeeded"))...)
		if siblings.Explained(s.Family) {
			t.Error("it is told before anything was written")
		}
		given.SaidSo(&s)
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
	generations := func(spec, observed int64) given.Option {
		return func(s *decide.Situation) {
			s.Subs[len(s.Subs)-1].Generation, s.Subs[len(s.Subs)-1].Status.ObservedGeneration = spec, observed
		}
	}
	items := func(spec, observed int64) given.Option {
		return func(s *decide.Situation) { s.Exec.Generation, s.Exec.Status.ObservedGeneration = spec, observed }
	}
	done, late := given.WithSub("x", "b", "b", "Succeeded"), given.WithSub("y", "b", "a", "Progressing")
	for _, test := range []struct {
		reason       string
		options      []given.Option
		busy, absent string
		leaving      int
		deployed     bool
	}{
		{"no children", nil, "", "", 0, true},
		{"all have ended the job", []given.Option{done, given.Written("x")}, "", "", 0, true},
		{"one has not", []given.Option{done, late, given.Written("x", "y")}, "y", "", 0, true},
		{"one has ended another job", []given.Option{given.WithSub("x", "c", "c", "Succeeded")}, "x", "", 0, true},
		{"one that was written is gone: somebody has forced that", []given.Option{done, given.Written("x", "y")}, "", "y", 0, true},
		{"nothing is noted, so that nothing can be missed", []given.Option{done}, "", "", 0, true},
		{"one is on its way out", []given.Option{given.WithSub("(x)", "b", "b", "Succeeded"), late}, "y", "", 1, true},
		{"somebody has changed one since its job", []given.Option{done, generations(2, 1)}, "", "", 0, false},
		{"the items were changed since their job", []given.Option{done, given.WithExecution("b", "b", "Succeeded"), items(2, 1)}, "", "", 0, false},
		{"the items are as they were", []given.Option{done, given.WithExecution("b", "b", "Succeeded"), items(2, 2)}, "", "", 0, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			f := given.Situation(test.options...).Family
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
		options []given.Option
		want    string
	}{
		{"both, while the job waits for them", []given.Option{given.AwaitingExecution, given.Written("y"), given.Jobs("b", "a", "Progressing")}, "Execution x, Installation y"},
		{"and after it has failed", []given.Option{given.AwaitingExecution, given.Written("y"), given.Jobs("b", "b", "Failed")}, "Execution x, Installation y"},
		{"all are there", []given.Option{given.WithExecution("b", "", "Progressing"), given.Written("y"), given.WithSub("y", "b", "", "Progressing"), given.Jobs("b", "a", "Progressing")}, ""},
		{"another Execution follows", []given.Option{given.AwaitingExecution, given.Jobs("b", "a", "CleanupOrphaned")}, ""},
		{"a deletion", []given.Option{given.AwaitingExecution, given.Written("y"), given.Jobs("b", "a", "Deleting")}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := given.Situation(test.options...)
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
		options []given.Option
		want    bool
	}{
		{"who exports nothing goes", nil, false},
		{"who exports something waits for importers", []given.Option{given.ExportsSomething}, true},
		{"unless somebody says that nobody imports it", []given.Option{given.ExportsSomething, hint}, false},
		{"that it imports nothing says nothing about others", []given.Option{given.ExportsSomething, other}, true},
		{"or that they do not matter", []given.Option{given.ExportsSomething, given.Annotated(v1alpha1.DeleteIgnoreSuccessorsAnnotation, "true")}, false},
		{"anything but true is no permission", []given.Option{given.ExportsSomething, given.Annotated(v1alpha1.DeleteIgnoreSuccessorsAnnotation, "yes")}, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := siblings.MindsImporters(given.Situation(test.options...).Inst); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
}
