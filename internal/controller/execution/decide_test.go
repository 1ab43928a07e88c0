package execution

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

type option func(*snapshot)

func jobs(id, finished string, phase v1alpha1.ExecutionPhase) option {
	return func(s *snapshot) {
		s.exec.Status.JobID, s.exec.Status.JobIDFinished, s.exec.Status.ExecutionPhase = id, finished, phase
	}
}

func deleting(s *snapshot) {
	now := metav1.NewTime(time.Unix(1, 0))
	s.exec.DeletionTimestamp = &now
}

func finalized(s *snapshot) { s.exec.Finalizers = []string{v1alpha1.Finalizer} }

func orphaned(s *snapshot) { s.orphaned = true }

func interrupted(s *snapshot) {
	s.exec.Annotations = map[string]string{v1alpha1.OperationAnnotation: "interrupt"}
}

func requested(s *snapshot) {
	s.exec.Annotations = map[string]string{v1alpha1.OperationAnnotation: string(v1alpha1.ReconcileOperation)}
}

func abort(before time.Duration) option {
	return func(s *snapshot) {
		s.exec.Annotations = map[string]string{
			v1alpha1.OperationAnnotation: "abort", v1alpha1.AbortTimeAnnotation: noon.Add(-before).Format(time.RFC3339),
		}
	}
}

func parent(id, finished string, phase v1alpha1.InstallationPhase) option {
	return func(s *snapshot) {
		s.parent = &v1alpha1.Installation{Status: v1alpha1.InstallationStatus{JobID: id, JobIDFinished: finished, InstallationPhase: phase}}
		s.parent.Name, s.parent.Finalizers = "x", []string{v1alpha1.Finalizer}
	}
}

// updating is a job of the parent that propagates values.
func updating(id string, unchanged bool) option {
	return func(s *snapshot) {
		parent(id, "", "Progressing")(s)
		s.parent.Status.DataUpdate = &v1alpha1.DataUpdate{Unchanged: unchanged}
	}
}

func broken(s *snapshot) { s.broken = errors.New("not gzip") }

// wants adds items to what the Execution wants, each with what it depends on.
func wants(items ...string) option {
	return func(s *snapshot) {
		for _, text := range items {
			name, before, _ := strings.Cut(text, "<")
			template := v1alpha1.DeployItemTemplate{Name: name, Type: "test"}
			if before != "" {
				template.DependsOn = strings.Split(before, ",")
			}
			s.templates = append(s.templates, template)
		}
		s.exec.Spec.DeployItems = s.templates
	}
}

func item(id, finished string, phase v1alpha1.DeployItemPhase) *v1alpha1.DeployItem {
	return &v1alpha1.DeployItem{Status: v1alpha1.DeployItemStatus{JobID: id, JobIDFinished: finished, Phase: phase}}
}

// written notes items as those that the job has written.
func written(names ...string) option {
	return func(s *snapshot) {
		cache := &v1alpha1.DeployItemCache{}
		for _, name := range names {
			cache.ActiveDIs = append(cache.ActiveDIs, v1alpha1.DiNamePair{SpecName: name, ObjectName: "x-" + name})
		}
		s.exec.Status.DeployItemCache = cache
	}
}

// has adds a DeployItem that exists.
func has(name, id, finished string, phase v1alpha1.DeployItemPhase, more ...func(*v1alpha1.DeployItem)) option {
	return func(s *snapshot) {
		item := item(id, finished, phase)
		item.Name, item.UID = "x-"+name, types.UID("uid-"+name)
		item.Labels = map[string]string{v1alpha1.ExecutionManagedNameLabel: name}
		item.Finalizers = []string{v1alpha1.Finalizer}
		for _, change := range more {
			change(item)
		}
		s.items = append(s.items, item)
	}
}

func goes(item *v1alpha1.DeployItem) {
	now := metav1.NewTime(time.Unix(1, 0))
	item.DeletionTimestamp = &now
}

func keepsInstalled(item *v1alpha1.DeployItem) {
	item.Annotations = map[string]string{v1alpha1.DeleteWithoutUninstallAnnotation: "true"}
}

func unfinalized(item *v1alpha1.DeployItem) { item.Finalizers = nil }

func triggeredAt(moment time.Time) func(*v1alpha1.DeployItem) {
	return func(item *v1alpha1.DeployItem) {
		stamp := metav1.NewTime(moment)
		item.Status.JobIDGenerationTime = &stamp
	}
}

func after(names ...string) func(*v1alpha1.DeployItem) {
	return func(item *v1alpha1.DeployItem) {
		item.Annotations = map[string]string{v1alpha1.ExecutionDependsOnAnnotation: strings.Join(names, ",")}
	}
}

func underWay(names ...string) option {
	return func(s *snapshot) {
		s.underWay = map[types.UID]bool{}
		for _, name := range names {
			s.underWay[types.UID("uid-"+name)] = true
		}
	}
}

func snapshotWith(options ...option) snapshot {
	s := snapshot{exec: &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "n", UID: "u"}}, pickup: time.Minute, now: noon}
	for _, option := range options {
		option(&s)
	}
	return s
}

func itemNames(items []*v1alpha1.DeployItem) string {
	var list []string
	for _, item := range items {
		list = append(list, itemorder.NameOf(item))
	}
	return strings.Join(list, ",")
}

func TestDecide(t *testing.T) {
	const settled, itself = "nothing, the job has ended", "the step itself"
	tests := []struct {
		reason  string
		options []option
		want    step
		items   string
		wake    string
	}{
		{"an Execution without a job rests", nil, rest, "", settled},
		{"the parent still writes children", []option{parent("a", "", "Init")}, rest, "", "Installation x"},
		{"the parent assigns its job", []option{parent("a", "", "Progressing")}, adopt, "", itself},
		{"a parent without a finalizer may be deleted before the Execution", []option{parent("a", "", "Progressing"), func(s *snapshot) { s.parent.Finalizers = nil }}, rest, "", "Installation x"},
		{"a further job of the parent", []option{jobs("a", "a", "Succeeded"), parent("b", "a", "Progressing")}, adopt, "", itself},
		{"the Execution has ended the job of the parent already", []option{jobs("a", "a", "Succeeded"), parent("a", "", "Progressing")}, rest, "", settled},
		{"the job of the parent has ended without the Execution", []option{parent("a", "a", "Failed")}, rest, "", settled},
		{"a tool has assigned a first job without a parent", []option{jobs("a", "", "")}, begin, "", itself},
		{"a tool has assigned a further job", []option{jobs("b", "a", "Failed")}, begin, "", itself},
		{"a start that was cut short", []option{jobs("a", "", "Init")}, begin, "", itself},
		{"a job in an unknown phase begins again", []option{jobs("a", "", "Dancing")}, begin, "", itself},
		{"items that cannot be read", []option{jobs("a", "", ""), broken}, fail, "", itself},
		{"items that cannot be read any more", []option{jobs("a", "", "Progressing"), broken}, fail, "", itself},
		{"items that are not valid", []option{jobs("a", "", ""), wants("a<a")}, fail, "", itself},
		{"a data update collects the exports of items that all exist", []option{jobs("b", "a", "Succeeded"), updating("b", true), wants("one"), has("one", "a", "a", "Succeeded")}, collect, "", itself},
		{"a data update collects the exports of an item that had a job of its own", []option{jobs("b", "a", "Succeeded"), updating("b", true), wants("one"), has("one", "own", "own", "Failed")}, collect, "", itself},
		{"a data update that deploys the Installation begins a job", []option{jobs("b", "a", "Succeeded"), updating("b", false), wants("one"), has("one", "a", "a", "Succeeded")}, begin, "", itself},
		{"a data update with a missing item begins a job", []option{jobs("b", "a", "Succeeded"), updating("b", true), wants("one", "two"), has("one", "a", "a", "Succeeded")}, begin, "", itself},
		{"a data update with a terminating item begins a job", []option{jobs("b", "a", "Succeeded"), updating("b", true), wants("one"), has("one", "a", "a", "Succeeded", goes)}, begin, "", itself},
		{"a data update with an item that is no longer wanted begins a job", []option{jobs("b", "a", "Succeeded"), updating("b", true), has("one", "a", "a", "Succeeded")}, begin, "", itself},
		{"a data update after a failed job begins a job", []option{jobs("b", "a", "Failed"), updating("b", true), wants("one"), has("one", "a", "a", "Succeeded")}, begin, "", itself},
		{"a data update with changed items begins a job", []option{jobs("b", "a", "Succeeded"), updating("b", true), func(s *snapshot) { s.exec.Generation = 2 }, wants("one"), has("one", "a", "a", "Succeeded")}, begin, "", itself},
		{"a data update of another job begins a job", []option{jobs("b", "a", "Succeeded"), updating("c", true), wants("one"), has("one", "a", "a", "Succeeded")}, begin, "", itself},
		{"without items there is nothing to wait for", []option{jobs("a", "", "Progressing")}, complete, "", itself},
		{"all items are done", []option{jobs("a", "", "Completing")}, complete, "", itself},

		{"independent items get the job at once", []option{jobs("a", "", "Progressing"), wants("one", "two", "three<one"), has("one", "", "", ""), has("two", "z", "z", "Succeeded"), has("three", "", "", "")}, trigger, "one,two", itself},
		{"items are at work", []option{jobs("a", "", "Progressing"), wants("one", "two<one"), has("one", "a", "", "Progressing"), has("two", "", "", "")}, rest, "", "DeployItem x-one"},
		{"a job that was assigned has a pickup deadline", []option{jobs("a", "", "Progressing"), wants("one", "two"), has("one", "a", "", "", triggeredAt(noon.Add(-time.Second))), has("two", "a", "", "", triggeredAt(noon))}, rest, "", "DeployItem x-one, DeployItem x-two, the time 2030-01-02T12:00:29Z"},
		{"no deployer has picked up an item in time", []option{jobs("a", "", "Progressing"), wants("one", "two"), has("one", "a", "", "", triggeredAt(noon.Add(-time.Minute))), has("two", "", "", "")}, expire, "one", itself},
		{"the next item gets the job", []option{jobs("a", "", "Progressing"), wants("one", "two<one"), has("one", "a", "a", "Succeeded"), has("two", "", "", "")}, trigger, "two", itself},
		{"all items have succeeded", []option{jobs("a", "", "Progressing"), wants("one"), has("one", "a", "a", "Succeeded")}, complete, "", itself},
		{"an item has failed", []option{jobs("a", "", "Progressing"), wants("one", "two"), has("one", "a", "a", "Failed"), has("two", "", "", "")}, fail, "", itself},
		{"an item is missing", []option{jobs("a", "", "Progressing"), wants("one")}, fail, "", itself},
		{"an item that is missing after the store was restored is written again", []option{jobs("a", "", "Progressing"), wants("one"), func(s *snapshot) { s.unsettled = true }}, begin, "", itself},
		{"a wanted item that was terminating when the job began is deleted first, after those that depend on it", []option{jobs("a", "", "Progressing"), wants("one", "two<one", "three"), written("three"), has("one", "z", "z", "Succeeded", goes), has("two", "z", "z", "Succeeded", goes, after("one")), has("three", "", "", "")}, trigger, "two", itself},
		{"it is at work", []option{jobs("a", "", "Progressing"), wants("one", "two"), written("two"), has("one", "a", "", "Deleting", goes), has("two", "", "", "")}, rest, "", "DeployItem x-one"},
		{"it was deleted, and is written anew", []option{jobs("a", "", "Progressing"), wants("one", "two"), written("two"), has("two", "", "", "")}, begin, "", itself},
		{"it could not be deleted", []option{jobs("a", "", "Progressing"), wants("one"), written(), has("one", "a", "a", "DeleteFailed", goes)}, fail, "", itself},
		{"another client has deleted an item that the job has written, and it is missing", []option{jobs("a", "", "Progressing"), wants("one", "two"), written("one", "two"), has("two", "", "", "")}, fail, "", itself},
		{"another client deletes an item that the job has written and finished", []option{jobs("a", "", "Progressing"), wants("one", "two"), written("one", "two"), has("one", "a", "a", "Succeeded", goes), has("two", "", "", "")}, trigger, "two", itself},
		{"an item at work may end although another one has failed just now", []option{jobs("a", "", "Progressing"), wants("one", "two"), has("one", "a", "a", "Failed", inPhase(4*time.Second)), has("two", "a", "", "Progressing")}, rest, "", "DeployItem x-two, the time 2030-01-02T12:00:01Z"},
		{"items that wait for each other", []option{jobs("a", "", "Progressing"), wants("one<two", "two<one"), has("one", "", "", ""), has("two", "", "", "")}, fail, "", itself},

		{"an item that is no longer wanted is deleted first", []option{jobs("a", "", "Progressing"), wants("one"), has("one", "", "", ""), has("old", "z", "z", "Succeeded")}, erase, "old", itself},
		{"an item is not written until its deletion is seen", []option{jobs("a", "", "Progressing"), wants("one"), has("one", "", "", ""), has("old", "z", "z", "Succeeded"), underWay("old")}, rest, "", "DeployItem x-old"},
		{"a terminating item that is no longer wanted gets the job", []option{jobs("a", "", "Progressing"), wants("one"), has("one", "", "", ""), has("old", "z", "z", "Succeeded", goes)}, trigger, "old", itself},
		{"an item that is no longer wanted is at work", []option{jobs("a", "", "Progressing"), wants("one"), has("one", "", "", ""), has("old", "a", "", "Deleting", goes)}, rest, "", "DeployItem x-old"},
		{"an item that is no longer wanted cannot be deleted", []option{jobs("a", "", "Progressing"), wants("one"), has("one", "", "", ""), has("old", "a", "a", "DeleteFailed", goes)}, fail, "", itself},

		{"an interruption ends what is not finished", []option{interrupted, jobs("a", "", "Progressing"), wants("one", "two"), has("one", "a", "a", "Succeeded"), has("two", "", "", "")}, interrupt, "two", itself},
		{"a job begins before it can be interrupted", []option{interrupted, jobs("a", "", "")}, begin, "", itself},
		{"an interruption that arrives before its job waits for the job", []option{interrupted, parent("a", "", "Init")}, rest, "", "Installation x"},
		{"the job comes before its interruption", []option{interrupted, parent("a", "", "Progressing")}, adopt, "", itself},
		{"an abort starts nothing, and waits for what runs", []option{abort(time.Minute), jobs("a", "", "Progressing"), wants("one", "two"), has("one", "a", "", "Progressing"), has("two", "", "", "")}, rest, "", "DeployItem x-one, the time 2030-01-02T12:04:00Z"},
		{"an abort gives up an item at work after a time", []option{abort(5 * time.Minute), jobs("a", "", "Progressing"), wants("one", "two"), has("one", "a", "", "Progressing"), has("two", "", "", "")}, giveUp, "one", itself},
		{"an abort ends the job when no item is at work", []option{abort(time.Minute), jobs("a", "", "Progressing"), wants("one", "two"), has("one", "a", "a", "Succeeded"), has("two", "", "", "")}, fail, "", itself},
		{"an abort comes too late", []option{abort(time.Minute), jobs("a", "", "Progressing"), wants("one"), has("one", "a", "a", "Succeeded")}, complete, "", itself},
		{"an abort comes before anything is written", []option{abort(time.Minute), jobs("a", "", ""), wants("one")}, fail, "", itself},
		{"an abort that arrives before its job waits for the job", []option{abort(time.Minute), parent("a", "", "Init")}, rest, "", "Installation x"},
		{"an abort ends with its job", []option{abort(time.Minute), jobs("a", "a", "Failed")}, dismiss, "", itself},
		{"an abort of a deletion deletes nothing more", []option{abort(time.Minute), deleting, finalized, jobs("a", "", "Deleting"), has("one", "a", "a", "DeleteFailed", goes), has("two", "", "", "")}, fail, "", itself},
		{"an abort of a deletion waits for items at work", []option{abort(time.Minute), deleting, finalized, jobs("a", "", "Deleting"), has("one", "a", "", "Deleting", goes), has("two", "", "", "")}, rest, "", "DeployItem x-one, the time 2030-01-02T12:04:00Z"},
		{"an abort of a deletion whose items are all deleted comes too late", []option{abort(time.Minute), deleting, finalized, jobs("a", "", "Deleting")}, release, "", itself},
		{"an interruption without a job is dismissed", []option{interrupted, jobs("a", "a", "Succeeded"), parent("a", "a", "Failed")}, dismiss, "", itself},

		{"a deletion waits for the phase of the parent", []option{deleting, finalized, jobs("a", "a", "Succeeded"), parent("b", "a", "InitDelete")}, rest, "", "Installation x"},
		{"the parent deletes", []option{deleting, finalized, jobs("a", "a", "Succeeded"), parent("b", "a", "Deleting")}, adopt, "", itself},
		{"the parent no longer exists and has assigned no deletion", []option{deleting, finalized, jobs("a", "a", "Succeeded"), orphaned}, adopt, "", itself},
		{"without a parent, a failed deletion of an item is not repeated at once", []option{deleting, finalized, jobs("a", "a", "DeleteFailed"), orphaned, has("one", "a", "a", "DeleteFailed", goes)}, rest, "", settled},
		{"without a parent, a failed deletion of an item is repeated on request", []option{deleting, finalized, jobs("a", "a", "DeleteFailed"), orphaned, requested, has("one", "a", "a", "DeleteFailed", goes)}, adopt, "", itself},
		{"the request stays until its job is stored", []option{deleting, finalized, jobs("b", "a", "DeleteFailed"), orphaned, requested, has("one", "a", "a", "DeleteFailed", goes)}, accept, "", itself},
		{"a request does not interfere with an existing parent", []option{deleting, finalized, jobs("a", "a", "DeleteFailed"), parent("a", "a", "DeleteFailed"), requested, has("one", "a", "a", "DeleteFailed", goes)}, rest, "", settled},
		{"the last item of an orphan is deleted meanwhile", []option{deleting, finalized, jobs("a", "a", "DeleteFailed"), orphaned}, adopt, "", itself},
		{"finalizers of others still hold the Execution", []option{deleting, jobs("a", "a", "Succeeded"), orphaned}, rest, "", settled},
		{"a failed deletion is tried again only on request", []option{deleting, finalized, jobs("b", "b", "DeleteFailed"), parent("b", "b", "DeleteFailed")}, rest, "", settled},
		{"a deletion begins", []option{deleting, finalized, jobs("b", "a", "Succeeded"), has("one", "a", "a", "Succeeded")}, beginDeletion, "", itself},
		{"without items there is nothing to delete", []option{deleting, finalized, jobs("b", "a", "Succeeded")}, release, "", itself},
		{"items are to be deleted", []option{deleting, finalized, jobs("b", "a", "InitDelete"), has("one", "a", "a", "Succeeded")}, remove, "", itself},
		{"an item that is not deleted yet", []option{deleting, finalized, jobs("b", "a", "Deleting"), has("one", "a", "a", "Succeeded")}, erase, "one", itself},
		{"the last item is deleted first", []option{deleting, finalized, jobs("b", "a", "Deleting"), has("one", "a", "a", "Succeeded", goes), has("two", "a", "a", "Succeeded", goes, after("one"))}, trigger, "two", itself},
		{"an item stays until its dependent is deleted", []option{deleting, finalized, jobs("b", "a", "Deleting"), has("one", "a", "a", "Succeeded", goes), has("two", "b", "", "Deleting", goes, after("one"))}, rest, "", "DeployItem x-two"},
		{"an item that must not be uninstalled needs no deployer", []option{deleting, finalized, jobs("b", "a", "Deleting"), has("one", "a", "a", "Succeeded", goes, keepsInstalled)}, letGo, "one", itself},
		{"finalizers of others still hold an item", []option{deleting, finalized, jobs("b", "a", "Deleting"), has("one", "a", "a", "Succeeded", goes, keepsInstalled, unfinalized)}, rest, "", "DeployItem x-one"},
		{"no deployer picks up the deletion in time", []option{deleting, finalized, jobs("b", "a", "Deleting"), has("one", "b", "a", "Succeeded", goes, triggeredAt(noon.Add(-time.Hour)))}, expire, "one", itself},
		{"an item cannot be deleted", []option{deleting, finalized, jobs("b", "a", "Deleting"), has("one", "b", "b", "DeleteFailed", goes)}, fail, "", itself},
		{"items whose deletions wait for each other", []option{deleting, finalized, jobs("b", "a", "Deleting"), has("one", "a", "a", "Succeeded", goes, after("two")), has("two", "a", "a", "Succeeded", goes, after("one"))}, fail, "", itself},
		{"all items are deleted", []option{deleting, finalized, jobs("b", "a", "Deleting")}, release, "", itself},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := decide(snapshotWith(test.options...))
			if got.do != test.want || got.wake.String() != test.wake || itemNames(got.items) != test.items {
				t.Errorf("%s (%s) and waits for %s, want %s (%s) and %s: %v", got.do, itemNames(got.items), got.wake, test.want, test.items, test.wake, got.err)
			}
		})
	}
}

// TestEveryDecisionKnowsItsWake checks all combinations of what a decision depends on: each state
// that is not final has a trigger for the next reconcile, and the controller watches it.
func TestEveryDecisionKnowsItsWake(t *testing.T) {
	phases := []v1alpha1.ExecutionPhase{"", "Init", "Progressing", "Completing", "Succeeded", "InitDelete", "TriggerDelete", "Deleting", "DeleteFailed", "Dancing"}
	ids := [][2]string{{"", ""}, {"a", ""}, {"a", "a"}, {"b", "a"}, {"a-removal", "a"}}
	none := option(func(*snapshot) {})
	var oneItem []option
	for _, more := range []func(*v1alpha1.DeployItem){unfinalized, goes, keepsInstalled, triggeredAt(noon), triggeredAt(noon.Add(-time.Hour))} {
		oneItem = append(oneItem, has("one", "", "", "", more), has("one", "a", "", "Progressing", more), has("one", "a", "a", "DeleteFailed", more), has("one", "b", "a", "Dancing", more))
	}
	axes := [][]option{
		{none, deleting}, {none, finalized}, {none, interrupted, requested, abort(time.Minute), abort(time.Hour)},
		{none, orphaned, parent("a", "", "Progressing"), parent("b", "a", "Init"), parent("b", "a", "Deleting"), parent("a", "a", "Failed"), removingParent("a")},
		{none, broken, wants("one"), wants("one<two", "two<one")},
		append(oneItem, none, underWay("one")),
		{none, has("two", "a", "", "Deleting", goes, after("one"))},
	}
	watched := []string{"Installation", "Execution", "DeployItem"}
	cases := 0
	var visit func(axis int, chosen []option)
	visit = func(axis int, chosen []option) {
		if axis < len(axes) {
			for _, option := range axes[axis] {
				visit(axis+1, append(slices.Clip(chosen), option))
			}
			return
		}
		cases++
		s := snapshotWith(chosen...)
		unfinished := job.Unfinished(s.exec.Status.JobID, s.exec.Status.JobIDFinished)
		d := decide(s)
		problem := ""
		switch {
		case d.do == "":
			problem = "no step"
		case !d.wake.Recorded():
			problem = "no trigger for the next reconcile is recorded"
		case d.wake.IsSettled() && unfinished:
			problem = "the job is not finished, but nothing is waited for"
		case d.wake.ContinuesAtOnce() == (d.do == rest):
			problem = "only a step that does something goes on by itself"
		case d.do == fail && job.OutcomeOf(d.err) != job.Terminal:
			problem = "a failure has to be final"
		case len(d.items) == 0 && slices.Contains([]step{trigger, expire, erase, letGo}, d.do):
			problem = "a step about items without items is repeated for ever"
		case !d.wake.Deadline().IsZero() && !d.wake.Deadline().After(s.now):
			problem = "the deadline is over"
		}
		for _, event := range d.wake.Events() {
			if !slices.Contains(watched, event.Kind) || event.Name == "" {
				problem = fmt.Sprintf("%+v enqueues no Execution", event)
			}
		}
		if problem != "" {
			t.Fatalf("%s: %s by %s, %v; status %+v, items %+v", problem, d.do, d.wake, d.err, s.exec.Status, s.items)
		}
	}
	for _, phase := range phases {
		for _, id := range ids {
			visit(0, []option{jobs(id[0], id[1], phase)})
		}
	}
	if cases < 10000 {
		t.Errorf("only %d cases", cases)
	}
}

// TestFailures: users find the item, its error, and what to do.
func TestFailures(t *testing.T) {
	errs := func(message string) func(*v1alpha1.DeployItem) {
		return func(item *v1alpha1.DeployItem) {
			item.Spec.Target = &v1alpha1.ObjectReference{Name: "cluster"}
			if message != "" {
				item.Status.LastError = &v1alpha1.Error{Message: message}
			}
		}
	}
	for _, test := range []struct {
		reason  string
		options []option
		want    string
	}{
		{"an item with an error: the error first", []option{jobs("a", "", "Progressing"), wants("one"), has("one", "a", "a", "Failed", errs("no such image"))}, "no such image; at item one on Target cluster"},
		{"an item without an error", []option{jobs("a", "", "Progressing"), wants("one"), has("one", "a", "a", "Failed")}, "DeployItem x-one is in phase Failed; at item one"},
		{"an item that another client has deleted", []option{jobs("a", "", "Progressing"), wants("one")}, "the DeployItem is missing: another client has deleted it: ask the root for another job; at item one"},
		{"items in a cycle", []option{jobs("a", "", "Progressing"), wants("one<two", "two<one"), has("one", "", "", ""), has("two", "", "", "")}, "items could not be started: one, two wait for each other"},
		{"an old item that cannot be deleted", []option{jobs("a", "", "Progressing"), has("old", "a", "a", "DeleteFailed", errs("finalizer"))}, "finalizer; at item old (no longer wanted) on Target cluster"},
		{"a deletion that has failed", []option{deleting, jobs("b", "a", "Deleting"), has("one", "b", "b", "DeleteFailed", errs("forbidden"))}, "forbidden; at item one on Target cluster"},
		{"two items with the same error", []option{jobs("a", "", "Progressing"), wants("one", "two"), has("one", "a", "a", "Failed", errs("no route")), has("two", "a", "a", "Failed", errs("no route"))}, "no route; at item one on Target cluster; at item two on Target cluster"},
		{"two items with two errors", []option{jobs("a", "", "Progressing"), wants("one", "two"), has("one", "a", "a", "Failed", errs("1")), has("two", "a", "a", "Failed", errs("2"))}, "1; at item one on Target cluster\n2; at item two on Target cluster"},
		{"a Target has the name that users know", []option{below, jobs("a", "", "Progressing"), wants("one"), has("one", "a", "a", "Failed", errs("Target "+copied+" is broken"), on(copied))}, "Target prod is broken; at item one on Target prod"},
		{"so has a second Target of the item", []option{below, jobs("a", "", "Progressing"), wants("one"), has("one", "a", "a", "Failed", errs("a check on Target ns/"+copied+": refused"), on("own"))}, "a check on Target ns/prod: refused; at item one on Target own"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide(snapshotWith(test.options...))
			if got.err == nil || got.err.Error() != test.want {
				t.Errorf("%v, want %q", got.err, test.want)
			}
		})
	}
}

func TestMembers(t *testing.T) {
	s := snapshotWith(wants("one", "two<one"), has("two", "", "", ""), has("old", "", "", ""), has("two", "", "", "", goes))
	wanted, orphans := itemorder.Members(s.templates, s.items)
	if got := strings.Join(itemorder.Names(wanted), ","); got != "one,two" || wanted[0].Item != nil || wanted[1].Item != s.items[0] || wanted[1].DependsOn[0] != "one" {
		t.Errorf("%s, %+v", got, wanted)
	}
	if got := strings.Join(itemorder.Names(orphans), ","); got != "old,two" {
		t.Errorf("orphans %s", got)
	}
}

func TestNotPickedUp(t *testing.T) {
	item := &v1alpha1.DeployItem{Spec: v1alpha1.DeployItemSpec{Type: "example.org/x", Target: &v1alpha1.ObjectReference{Name: "cluster"}}}
	err := lateError(item, snapshot{pickup: 5 * time.Minute})
	if got := err.Error(); got != "no deployer has reconciled this deployitem within 300 seconds: no running deployer serves type example.org/x and Target cluster: start one, or correct the type or the Target's labels" || job.OutcomeOf(err) != job.Terminal {
		t.Error(got)
	}
}
