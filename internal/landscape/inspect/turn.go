package inspect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
)

const (
	// queuedReason is the reason of an object whose turn it is, and that its controller or deployer
	// has not picked up. No status says that it has a job: children take the job of their parent, and
	// a deployer in the process of an Execution gets it without a write.
	queuedReason = "Queued"
	// turnReason is the reason of an item that other items come before.
	turnReason = "Turn"

	// ask is what to do about a controller or deployer that picks nothing up. Those who look again do not
	// get it in the first moments, in which most objects are about to be picked up.
	ask      = "if this takes long, landscaper-cli doctor says why"
	askAfter = 10 * time.Second
)

// notPickedUpMessage is the message of an object whose controller has not begun with its job.
func (n *Node) notPickedUpMessage() string {
	return "its controller has not picked it up yet" + n.advice()
}

// queuedMessage is the message of an item whose deployer has not begun with its job.
func (n *Node) queuedMessage() string {
	why := "no deployer has picked it up yet (type " + string(n.DeployItem.Spec.Type)
	if n.early() {
		return why + ")"
	}
	return why + "; " + ask + ")"
}

// advice is what to do, in brackets, about a node that nothing works on.
func (n *Node) advice() string {
	if n.early() {
		return ""
	}
	return " (" + ask + ")"
}

// early reports whether a node has not waited long enough for advice.
func (n *Node) early() bool {
	since := n.Since()
	if since == nil && n.Object() != nil {
		created := n.Object().GetCreationTimestamp()
		since = &created
	}
	return since != nil && n.now.Sub(since.Time) < askAfter && !n.now.IsZero()
}

// propagateWait says what the children of an Installation wait for that have not picked up its job. A
// job that only propagates values is not for all of them.
//
// No object records it, so that it is judged here as the controllers do.
func (n *Node) propagateWait() {
	inst := n.Installation
	if inst.Status.JobID == inst.Status.JobIDFinished || inst.Status.DataUpdate != nil {
		return
	}
	for _, child := range n.Children {
		if child.hasJobFrom(inst) {
			child.State, child.Ready, child.Reason, child.obstacle, child.queued = Waiting, false, queuedReason, inQueue, n.assignedAt(child)
			child.Message = child.notPickedUpMessage()
		}
	}
}

// hasJobFrom reports whether an Installation has a job for a child.
func (n *Node) hasJobFrom(parent *v1alpha1.Installation) bool {
	switch {
	case n.Execution != nil:
		return siblings.HasJobFor(parent, n.Execution, job.PartOfExecution(n.Execution))
	case n.Installation != nil:
		return siblings.ParentHasJob(siblings.Family{Inst: n.Installation, Parent: parent})
	}
	return false
}

// markHeld marks the children that are not wanted any more, and kept until the end of the job.
func (n *Node) markHeld() {
	for _, child := range n.Children {
		switch {
		case child.Installation != nil && n.Installation != nil:
			child.Held = job.HasDropped(n.Installation, child.Name) || job.IsNotWanted(child.Installation)
		case child.DeployItem != nil && n.Execution != nil:
			cache := n.Execution.Status.DeployItemCache
			child.Held = cache != nil && slices.Contains(cache.OrphanedDIs, child.Name)
		}
		if child.Held = child.Held && child.Object().GetDeletionTimestamp() == nil; child.Held {
			child.PendingRemovals = job.NotWanted
		}
	}
}

// takeTurns says of the items of a running Execution that have not received its job what
// they wait for.
func (n *Node) takeTurns() {
	exec := n.Execution
	if exec == nil || exec.Status.JobID == exec.Status.JobIDFinished || executionFacts(exec).aborting != "" {
		return
	}
	phases := v1alpha1.ExecutionPhases
	switch exec.Status.ExecutionPhase {
	case phases.Progressing:
		if job.IsRemoval(n.JobID) {
			// It reaches those that go, and those that have kept something.
			goes := func(item *Node) bool { return item.Held || item.DeployItem.DeletionTimestamp != nil }
			n.wait(anyItem, itemorder.ToRemove(n.JobID, n.members(func(item *Node) bool { return !goes(item) }), n.members(goes), nil), goesFirst)
			return
		}
		if slices.ContainsFunc(n.Children, (*Node).deleted) {
			// Objects that are no longer wanted are deleted before anything else begins.
			going := n.members(func(item *Node) bool { return item.DeployItem.DeletionTimestamp != nil })
			n.wait((*Node).deleted, itemorder.ToDelete(n.JobID, going, nil), goesFirst)
			return
		}
		n.wait(anyItem, itemorder.ToDeploy(n.JobID, n.members(anyItem)), isDoneFirst)
	case phases.Deleting, phases.TriggerDelete:
		n.wait((*Node).deleted, itemorder.ToDelete(n.JobID, n.members(anyItem), nil), goesFirst)
	}
}

func anyItem(*Node) bool { return true }

// members returns some of the items of an Execution for the judge of their order.
func (n *Node) members(chosen func(item *Node) bool) []itemorder.Member {
	var items []*v1alpha1.DeployItem
	for _, item := range n.Children {
		if chosen(item) {
			items = append(items, item.DeployItem)
		}
	}
	return itemorder.Noted(items)
}

// wait lets those of the items that are concerned wait: for what comes before them, or
// for their deployers.
func (n *Node) wait(concerned func(*Node) bool, order itemorder.Order, first precedence) {
	nodes := make(map[*v1alpha1.DeployItem]*Node, len(n.Children))
	for _, item := range n.Children {
		nodes[item.DeployItem] = item
	}
	for i, member := range order.Members {
		item := nodes[member.Item]
		if !job.PartOfItem(item.DeployItem).Due(n.JobID) || item.Held || !concerned(item) {
			continue
		}
		item.State, item.Ready = Waiting, false
		if names := order.WaitsFor(i); len(names) > 0 {
			item.Reason, item.Message, item.obstacle, item.turn = turnReason, first.message(names), notItsTurn, first.brief(names)
			item.before = names
			continue
		}
		if paused := executionFacts(n.Execution).deferral(); paused != nil {
			item.Reason, item.Message, item.obstacle = paused.Reason, paused.Message, itsOwnWait
			continue
		}
		item.Reason, item.obstacle, item.queued = queuedReason, inQueue, n.assignedAt(item)
		item.Message = item.queuedMessage()
	}
}

// precedence says of items that come before another one what relates each of them to it, and what they
// have to do.
type precedence struct{ relation, end string }

var (
	// isDoneFirst is for items that have to be done before one begins.
	isDoneFirst = precedence{", on which it depends", ""}
	// goesFirst is for items that have to be deleted before one is.
	goesFirst = precedence{", which depends on it,", " to go"}
)

// message says what an item waits for.
func (p precedence) message(names []string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = "item " + name + p.relation + p.end
	}
	return "waiting for " + strings.Join(all, ", ")
}

// mostNames is how many names stand in place of a phase.
const mostNames = 3

// brief says it in place of a phase.
func (p precedence) brief(names []string) string {
	kind, more := "item ", ""
	if len(names) > 1 {
		kind = "items "
	}
	if left := len(names) - mostNames; left > 0 {
		names, more = names[:mostNames], fmt.Sprintf(" and %d more", left)
	}
	return "waits for " + kind + strings.Join(names, ", ") + more + p.end
}

func (n *Node) deleted() bool {
	return n.DeployItem.DeletionTimestamp != nil && !itemorder.StaysInstalled(n.DeployItem)
}

func (n *Node) dependsOn(other *Node) bool {
	return n != other && other.TemplateName != "" && slices.Contains(itemorder.DependsOn(n.DeployItem), other.TemplateName)
}

// assignedAt is when a child could get the job at the earliest: no object records it.
func (n *Node) assignedAt(child *Node) *metav1.Time {
	created := child.Object().GetCreationTimestamp()
	candidates := []*metav1.Time{&created, child.Object().GetDeletionTimestamp(), n.PhaseTime}
	if times := n.times; times != nil {
		candidates = append(candidates, times.TriggerTime, times.InitTime, times.WaitTime)
	}
	for _, other := range n.Children {
		if child.Kind == KindDeployItem && child.dependsOn(other) {
			candidates = append(candidates, other.FinishTime)
		}
	}
	latest := &metav1.Time{}
	for _, candidate := range candidates {
		if candidate != nil && latest.Before(candidate) {
			latest = candidate
		}
	}
	if latest.IsZero() {
		return nil
	}
	return latest
}
