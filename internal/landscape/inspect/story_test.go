package inspect

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
)

func at(second int) *metav1.Time {
	moment := metav1.Unix(int64(second), 0)
	return &moment
}

func event(uid, reason, message string, second int, change ...func(*corev1.Event)) *corev1.Event {
	e := &corev1.Event{InvolvedObject: corev1.ObjectReference{UID: types.UID(uid)}, Type: corev1.EventTypeNormal, Reason: reason, Message: message}
	e.EventTime = metav1.NewMicroTime(time.Unix(int64(second), 1000))
	for _, change := range change {
		change(e)
	}
	return e
}

// told is a root whose item has failed in its last job.
func storyTree() *Node {
	root := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "shop", UID: "u-shop"}}
	root.Status = v1alpha1.InstallationStatus{JobID: "j2", JobIDFinished: "j2", InstallationPhase: "Failed",
		TransitionTimes:    &v1alpha1.TransitionTimes{TriggerTime: at(100), InitTime: at(100), WaitTime: at(102), FinishedTime: at(130)},
		ExecutionReference: &v1alpha1.ObjectReference{Name: "shop", Namespace: "ns"},
		Conditions: []v1alpha1.Condition{
			{Type: v1alpha1.ReadyCondition, Status: "False", Message: "an item has failed", LastTransitionTime: *at(130)},
			{Type: v1alpha1.ReconcileExecutionCondition, Status: "True", Reason: "ExecutionDeployed", Message: "Deployed execution item", LastTransitionTime: *at(101)},
			{Type: v1alpha1.ValidateImportsCondition, Status: "False", Reason: "Wrong", Message: "of an earlier job", LastTransitionTime: *at(50)},
		},
	}
	execution := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "shop", UID: "u-exec"}}
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: "u-web", Labels: map[string]string{v1alpha1.ExecutionManagedByLabel: "shop"}}}
	item.Status = v1alpha1.DeployItemStatus{JobID: "j2", JobIDFinished: "j2", Phase: "Failed",
		TransitionTimes: &v1alpha1.TransitionTimes{TriggerTime: at(103), FinishedTime: at(129)}}
	item.Status.LastError = &v1alpha1.Error{Reason: "Timeout", Message: "timed out", LastUpdateTime: *at(129)}
	return Tree(Snapshot{
		Installations: []*v1alpha1.Installation{root}, Executions: []*v1alpha1.Execution{execution}, DeployItems: []*v1alpha1.DeployItem{item},
	}, "ns", "shop")
}

func lines(entries []Entry) string {
	var text strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&text, "%d %s %s/%s %s %s", e.Time.Unix(), e.Type, e.Kind, e.Name, e.Reason, e.Message)
		if e.Count > 0 {
			fmt.Fprintf(&text, " (%d)", e.Count)
		}
		text.WriteString("\n")
	}
	return text.String()
}

func TestStory(t *testing.T) {
	events := []*corev1.Event{
		event("u-web", "Timeout", "timed out", 131), // the status says it at 129
		event("u-web", "Unreachable", "no answer", 110, func(e *corev1.Event) {
			e.Type, e.Series = corev1.EventTypeWarning, &corev1.EventSeries{Count: 4, LastObservedTime: metav1.NewMicroTime(time.Unix(120, 0))}
		}),
		event("u-shop", "Old", "of an earlier job", 60),
		event("u-other", "Other", "of another tree", 120),
		event("", "NoObject", "of no object", 120),
		event("u-exec", "Counted", "as older clients write it", 0, func(e *corev1.Event) {
			e.EventTime, e.Count, e.LastTimestamp = metav1.MicroTime{}, 2, *at(105)
		}),
	}
	want := `100 Normal Installation/shop Asked job j2 was assigned
100 Normal Installation/shop Begun the work has begun
101 Normal Installation/shop ExecutionDeployed ReconcileExecution: Deployed execution item
102 Normal Installation/shop Waits what belongs to it was started
103 Normal DeployItem/web Asked job j2 was assigned
105 Normal Execution/shop Counted as older clients write it (2)
120 Warning DeployItem/web Unreachable no answer (4)
129 Warning DeployItem/web Timeout timed out
129 Warning DeployItem/web Ended the job ended in phase Failed
130 Warning Installation/shop Ended the job ended in phase Failed
`
	if diff := cmp.Diff(want, lines(Story(storyTree(), events))); diff != "" {
		t.Error(diff)
	}
	want = `60 Normal Installation/shop Old of an earlier job
105 Normal Execution/shop Counted as older clients write it (2)
120 Warning DeployItem/web Unreachable no answer (4)
131 Normal DeployItem/web Timeout timed out
`
	if diff := cmp.Diff(want, lines(EventsOf(storyTree(), events))); diff != "" {
		t.Error(diff)
	}
}

// TestStoryOfOneSecond: in a second, a job goes down the tree, and its failure comes up.
func TestStoryOfOneSecond(t *testing.T) {
	times := &v1alpha1.TransitionTimes{TriggerTime: at(100), FinishedTime: at(100)}
	failed := &v1alpha1.Error{Reason: "E", Message: "bad", LastUpdateTime: *at(100)}
	root := object("Failed", func(i *v1alpha1.Installation) {
		i.Status.ExecutionReference, i.Status.TransitionTimes, i.Status.LastError = &v1alpha1.ObjectReference{Name: "a"}, times, failed
	})
	exec := execution("a", func(e *v1alpha1.Execution) {
		e.Status.ExecutionPhase, e.Status.TransitionTimes, e.Status.LastError = "Failed", times, failed
	})
	tree := Tree(Snapshot{Installations: []*v1alpha1.Installation{root}, Executions: []*v1alpha1.Execution{exec}}, "ns", "a")
	var order []string
	for _, entry := range Story(tree, nil) {
		order = append(order, string(entry.Kind)+" "+entry.Reason)
	}
	if diff := cmp.Diff([]string{"Installation Asked", "Execution Asked", "Execution E", "Installation E", "Execution Ended", "Installation Ended"}, order); diff != "" {
		t.Error(diff)
	}
}

// TestStoryOfRunningJob ends with what is waited for.
func TestStoryOfRunningJob(t *testing.T) {
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	item.Status = v1alpha1.DeployItemStatus{JobID: "j2", Phase: "Progressing", PhaseTransitionTime: at(10), TransitionTimes: &v1alpha1.TransitionTimes{TriggerTime: at(9), FinishedTime: at(1)}}
	item.Status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.ReconcilingCondition, Status: "True", Reason: "Waiting", Message: "Deployment web: 1 of 2"}}
	node := &Node{Kind: KindDeployItem, Name: "web", DeployItem: item}
	deployItemFacts(item).fill(node)
	want := "9 Normal DeployItem/web Asked job j2 was assigned\n10 Normal DeployItem/web Waiting Deployment web: 1 of 2\n"
	if diff := cmp.Diff(want, lines(Story(node, nil))); diff != "" {
		t.Error(diff)
	}
}
