package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
)

// Entry is something that happened to an object of a tree.
type Entry struct {
	// Time is when it happened, or happened last.
	Time time.Time `json:"time"`
	// Kind, Namespace and Name are the object.
	Kind      Kind   `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Type is Normal or Warning.
	Type string `json:"type"`
	// Reason is a short word for what happened.
	Reason string `json:"reason,omitempty"`
	// Message is the text for people.
	Message string `json:"message,omitempty"`
	// Count is how often it happened, if more than once.
	Count int32 `json:"count,omitempty"`

	// stage orders entries of the same second.
	stage int
	// depth is how far the object is from the root of the tree.
	depth int
}

// EventsOf returns the events of the objects of a tree, the oldest first.
func EventsOf(tree *Node, events []*corev1.Event) []Entry {
	nodes, depths := map[types.UID]*Node{}, map[types.UID]int{}
	tree.walkDeep(0, func(node *Node, depth int) {
		if object := node.Object(); object != nil {
			nodes[object.GetUID()], depths[object.GetUID()] = node, depth
		}
	})
	var entries []Entry
	for _, event := range events {
		node := nodes[event.InvolvedObject.UID]
		if node == nil || event.InvolvedObject.UID == "" {
			continue
		}
		entry := node.entryOf(event)
		entry.depth = depths[event.InvolvedObject.UID]
		entries = append(entries, entry)
	}
	return inOrder(entries)
}

// EventsOfObject returns the events of an object that is in no tree, the oldest first.
func EventsOfObject(kind Kind, object metav1.Object, events []*corev1.Event) []Entry {
	alone := &Node{Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}
	var entries []Entry
	for _, event := range events {
		if event.InvolvedObject.UID == object.GetUID() && object.GetUID() != "" {
			entries = append(entries, alone.entryOf(event))
		}
	}
	return inOrder(entries)
}

func (n *Node) entryOf(event *corev1.Event) Entry {
	entry := n.entry(lastTime(event), event.Type, event.Reason, event.Message, stageInside)
	if event.Series != nil {
		entry.Count = event.Series.Count
	} else if event.Count > 1 {
		entry.Count = event.Count
	}
	return entry
}

// lastTime is when an event happened last; clients of both APIs write different fields.
func lastTime(event *corev1.Event) time.Time {
	latest := event.EventTime.Time
	candidates := []time.Time{event.FirstTimestamp.Time, event.LastTimestamp.Time}
	if event.Series != nil {
		candidates = append(candidates, event.Series.LastObservedTime.Time)
	}
	for _, candidate := range candidates {
		if candidate.After(latest) {
			latest = candidate
		}
	}
	return latest
}

// The stages of a job, in the order in which a status has them.
const (
	stageAsked = iota
	stageBegun
	stageInside
	stageFailed
	stageEnded
)

// Story lists what the last job of a tree did, in order, from its events and from the status of its
// objects.
//
// The status has what is stored for good, the events what happened in between; an API
// server forgets events after an hour by default.
func Story(tree *Node, events []*corev1.Event) []Entry {
	var begin time.Time
	if tree.StartTime != nil {
		begin = tree.StartTime.Time
	}
	var entries []Entry
	tree.walkDeep(0, func(node *Node, depth int) {
		for _, entry := range node.events() {
			entry.depth = depth
			entries = append(entries, entry)
		}
	})
	entries = append(entries, EventsOf(tree, events)...)
	// Earlier entries belong to an earlier job.
	entries = slices.DeleteFunc(entries, func(entry Entry) bool { return entry.Time.Before(begin) })
	return inOrder(withoutRepetition(entries))
}

// repetition is how far apart the status of an object and its event may tell the same: the event
// is written after the status, and the API server may take its time in between.
const repetition = 5 * time.Second

// withoutRepetition drops entries that a status and an event have in common.
func withoutRepetition(entries []Entry) []Entry {
	type fact struct {
		kind          Kind
		name, message string
	}
	known := map[fact]time.Time{}
	return slices.DeleteFunc(entries, func(entry Entry) bool {
		this := fact{entry.Kind, entry.Namespace + "/" + entry.Name, entry.Message}
		before, seen := known[this]
		known[this] = entry.Time
		return seen && entry.Message != "" && entry.Time.Sub(before).Abs() <= repetition
	})
}

// walkDeep is Walk for those who need the depth.
func (n *Node) walkDeep(depth int, visit func(*Node, int)) {
	visit(n, depth)
	for _, child := range n.Children {
		child.walkDeep(depth+1, visit)
	}
}

// inOrder sorts by time. Most times are full seconds: within one second, a job goes down the tree,
// and its failures and its end come up again.
func inOrder(entries []Entry) []Entry {
	slices.SortStableFunc(entries, func(a, b Entry) int {
		order := cmp.Or(cmp.Compare(a.Time.Unix(), b.Time.Unix()), a.stage-b.stage)
		if order == 0 && a.stage >= stageFailed {
			order = b.depth - a.depth
		}
		return cmp.Or(order, a.Time.Compare(b.Time))
	})
	return entries
}

func (n *Node) entry(at time.Time, kind, reason, message string, stage int) Entry {
	if n.names != nil {
		message = n.names.Replace(message)
	}
	if kind == corev1.EventTypeWarning && stage == stageInside {
		stage = stageFailed
	}
	return Entry{Time: at, Kind: n.Kind, Namespace: n.Namespace, Name: n.Name, Type: cmp.Or(kind, corev1.EventTypeNormal), Reason: reason, Message: message, stage: stage}
}

// events is what an object publishes about its own job.
func (n *Node) events() []Entry {
	var entries []Entry
	add := func(at *metav1.Time, kind, reason, message string, stage int) {
		if at != nil && !at.IsZero() {
			entries = append(entries, n.entry(at.Time, kind, reason, message, stage))
		}
	}
	if times := n.times; times != nil {
		add(times.TriggerTime, "", "Asked", "job "+n.JobID+" was assigned", stageAsked)
		add(times.InitTime, "", "Begun", "the work has begun", stageBegun)
		add(times.WaitTime, "", "Waits", "what belongs to it was started", stageInside)
		if n.JobID == n.JobIDFinished {
			kind := corev1.EventTypeNormal
			if n.Failed() {
				kind = corev1.EventTypeWarning
			}
			add(times.FinishedTime, kind, "Ended", "the job ended in phase "+n.Phase, stageEnded)
		}
	}
	for _, condition := range n.conditions {
		if condition.Message != "" && !summaries[condition.Type] {
			kind := corev1.EventTypeNormal
			if condition.Status == v1alpha1.ConditionFalse {
				kind = corev1.EventTypeWarning
			}
			at := condition.LastTransitionTime
			add(&at, kind, condition.Reason, fmt.Sprintf("%s: %s", condition.Type, condition.Message), stageInside)
		}
	}
	if n.LastError != nil && n.LastError.Message != "" {
		at := n.LastError.LastUpdateTime
		add(&at, corev1.EventTypeWarning, n.LastError.Reason, n.LastError.Message, stageInside)
	}
	if waits := n.Why(); n.JobID != n.JobIDFinished && waits != "" && n.PhaseTime != nil {
		add(n.PhaseTime, "", "Waiting", waits, stageEnded)
	}
	return entries
}

// summaries are conditions that say in other words what the rest says.
var summaries = map[v1alpha1.ConditionType]bool{
	v1alpha1.ReadyCondition: true, v1alpha1.ReconcilingCondition: true, v1alpha1.StalledCondition: true,
}
