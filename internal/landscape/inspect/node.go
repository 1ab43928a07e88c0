package inspect

import (
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// Kind is the kind of a node.
type Kind string

// The kinds of nodes.
const (
	KindInstallation Kind = "Installation"
	KindExecution    Kind = "Execution"
	KindDeployItem   Kind = "DeployItem"
)

// State says in one word how an object stands.
type State string

// The states of objects.
const (
	// Ready means that everything is true for the current inputs.
	Ready State = "Ready"
	// Running means that work is under way.
	Running State = "Running"
	// Waiting means that something outside has to happen first.
	Waiting State = "Waiting"
	// Failed means that the last job ended badly.
	Failed State = "Failed"
	// Stalled means that nothing more happens until a user changes something.
	Stalled State = "Stalled"
	// Missing means that an object is referred to that does not exist.
	Missing State = "Missing"
)

// Node is an object in the tree of a landscape.
type Node struct {
	// Kind is the kind of the object.
	Kind Kind `json:"kind"`
	// Namespace is the namespace of the object.
	Namespace string `json:"namespace"`
	// Name is the name of the object.
	Name string `json:"name"`
	// TemplateName is its name in the blueprint, if it has one.
	TemplateName string `json:"templateName,omitempty"`
	// Target is the Target of an item, under the name that people know.
	Target string `json:"target,omitempty"`
	// Phase is the published phase.
	Phase string `json:"phase,omitempty"`
	// State says in one word how the object stands.
	State State `json:"state"`
	// Ready means that everything is true for the current inputs.
	Ready bool `json:"ready"`
	// Outdated means that the object has not received the job of the tree's root.
	Outdated bool `json:"outdated,omitempty"`
	// Orphaned means that the parent of a subinstallation does not exist.
	Orphaned bool `json:"orphaned,omitempty"`
	// JobID identifies the current or last job.
	JobID string `json:"jobID,omitempty"`
	// JobIDFinished identifies the last job that has ended.
	JobIDFinished string `json:"jobIDFinished,omitempty"`
	// Reason is the short word that the object publishes for why it is not ready.
	Reason string `json:"reason,omitempty"`
	// Message is what the object publishes about why it is not ready.
	Message string `json:"message,omitempty"`
	// Warnings is what the last job of the object has found that is probably not meant.
	Warnings string `json:"warnings,omitempty"`
	// PendingRemovals is what the object keeps until the end of the job, or that the object itself is
	// held until then; of a root, what is removed now.
	PendingRemovals string `json:"pendingRemovals,omitempty"`
	// Held means that the object is not wanted any more, and kept until the end of the job.
	Held bool `json:"held,omitempty"`
	// LastError is the published error of the last step.
	LastError *v1alpha1.Error `json:"lastError,omitempty"`
	// StartTime is when the current or last job began.
	StartTime *metav1.Time `json:"startTime,omitempty"`
	// FinishTime is when the last job ended.
	FinishTime *metav1.Time `json:"finishTime,omitempty"`
	// PhaseTime is when the phase changed last.
	PhaseTime *metav1.Time `json:"phaseTime,omitempty"`
	// Children are the subinstallations and the Execution of an Installation, or
	// the DeployItems of an Execution.
	Children []*Node `json:"children,omitempty"`

	// Installation is the object of an Installation node.
	Installation *v1alpha1.Installation `json:"-"`
	// Execution is the object of an Execution node.
	Execution *v1alpha1.Execution `json:"-"`
	// DeployItem is the object of a DeployItem node.
	DeployItem *v1alpha1.DeployItem `json:"-"`

	times *v1alpha1.TransitionTimes
	// observed is the generation that the last job has worked on.
	observed   int64
	conditions []v1alpha1.Condition
	// queued is since when a deployer could have taken an item up that it has not.
	queued   *metav1.Time
	obstacle obstacle
	// turn says which items come before an item, in place of its phase.
	turn string
	// before are those items, by their names in the blueprint.
	before []string
	// now is when the objects were read by those who look again; zero for a single look.
	now time.Time
	// gone says which subinstallations another client has removed during the job; a reduced
	// tree has not all of those that exist.
	gone string
	// names replaces the names of copies of Targets in messages; nil without copies.
	names *strings.Replacer
}

// obstacle is the kind of what keeps an object from being ready, where it matters.
type obstacle int

const (
	// itsOwnWait means that the object says that something has to happen first.
	itsOwnWait obstacle = iota + 1
	// notItsTurn means that other items come before an item.
	notItsTurn
	// inQueue means that the controller or deployer of the object has not picked it up.
	inQueue
)

// SaysWait reports whether the message of the object is a wait that the object itself publishes.
func (n *Node) SaysWait() bool { return n.obstacle == itsOwnWait }

// Queued reports whether it is the turn of the object, and its controller or deployer has not picked it
// up.
func (n *Node) Queued() bool { return n.obstacle == inQueue }

// ItemsBefore returns the items, by their names in the blueprint, that come before an item whose turn it
// is not.
func (n *Node) ItemsBefore() []string { return n.before }

// Object is an object behind a node; clients take it as one of theirs.
type Object interface {
	metav1.Object
	runtime.Object
}

// Object returns the object behind the node, or nil if it is missing.
func (n *Node) Object() Object {
	switch {
	case n.Installation != nil:
		return n.Installation
	case n.Execution != nil:
		return n.Execution
	case n.DeployItem != nil:
		return n.DeployItem
	}
	return nil
}

// Failed reports whether the last job of the object ended badly.
func (n *Node) Failed() bool {
	return v1alpha1.InstallationPhase(n.Phase).IsFailed()
}

// Why is the reason why the object is not ready; it is empty for a ready object.
func (n *Node) Why() string {
	switch {
	case n.Ready:
		return ""
	case n.Message != "":
		return n.Message
	case n.LastError != nil && n.LastError.Message != "":
		return n.LastError.Message
	case n.State == Missing:
		return fmt.Sprintf("%s %s does not exist", n.Kind, n.Name)
	case n.State == Waiting, n.JobID == "":
		return n.idle()
	}
	return ""
}

// Standing is the phase of the object, or what stands in place of one: that of an earlier job does not
// say that an item waits for its turn.
func (n *Node) Standing() string {
	words := []string{n.Phase}
	if n.Phase != "" && n.Outdated {
		words[0] += " (outdated)"
	}
	switch {
	case n.turn != "":
		words = append(words, n.turn)
	case n.Phase != "", n.State == Missing:
	case n.Queued(), n.JobID != n.JobIDFinished:
		words = append(words, "not picked up")
	default:
		words = append(words, "not started")
	}
	return strings.TrimPrefix(strings.Join(words, ", "), ", ")
}

// unbegun reports that no controller works on the job that the object has.
func (n *Node) unbegun() bool {
	return job.Starting(n.JobID, n.JobIDFinished, n.Phase)
}

// Since is the time from which the object is in its state: the phase of an earlier job does not
// count for a job that waits to begin.
func (n *Node) Since() *metav1.Time {
	if n.queued != nil {
		return n.queued
	}
	if n.JobID != n.JobIDFinished && n.StartTime != nil && (n.PhaseTime == nil || n.PhaseTime.Before(n.StartTime)) {
		return n.StartTime
	}
	return n.PhaseTime
}

// Walk visits the node and all below it, parents first.
func (n *Node) Walk(visit func(*Node)) {
	visit(n)
	for _, child := range n.Children {
		child.Walk(visit)
	}
}
