package console

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/requests"
)

// Action is what a visitor may do with an Installation.
type Action string

// The actions. Those that have a name of the published API are its operations.
const (
	Reconcile      Action = "reconcile"
	ForceReconcile Action = "force-reconcile"
	Interrupt      Action = "interrupt"
	Abort          Action = "abort"
	Skip           Action = "skip"
	Unskip         Action = "unskip"
	SetImports     Action = "set-imports"
	Delete         Action = "delete"
	// Approve is offered with the plan that it approves, see StoredPlan.
	Approve Action = "approve"
)

// Actions are all actions, in the order of their buttons.
var Actions = []Action{Reconcile, ForceReconcile, Interrupt, Abort, SetImports, Skip, Unskip, Delete, Approve}

// ErrOther says that an Installation is not the one that a visitor has seen.
var ErrOther = errors.New("the Installation was deleted meanwhile, and there is another one of the same name: look at it first")

// Request is an action of a visitor on an Installation.
type Request struct {
	Action    Action `json:"-"`
	Namespace string `json:"-"`
	Name      string `json:"-"`
	// UID is that of the Installation that the visitor has seen.
	UID types.UID `json:"uid"`
	// Keep leaves on the clusters what was deployed; it is for Delete.
	Keep bool `json:"keep,omitempty"`
	// Imports are the values for SetImports.
	Imports []ImportText `json:"imports,omitempty"`
	// Digest is that of the plan for Approve. AcceptUnknown approves the parts, too, that only the job
	// can know.
	Digest        string `json:"digest,omitempty"`
	AcceptUnknown bool   `json:"acceptUnknown,omitempty"`
	Comment       string `json:"comment,omitempty"`
}

// ImportText is what a visitor has written for an import.
type ImportText struct {
	Name string `json:"name"`
	Text string `json:"text"`
	// Anything says that the text is YAML; otherwise it is a number, or as it stands.
	Anything bool `json:"anything,omitempty"`
}

// Rights are what a visitor may do with an Installation.
type Rights struct{ Change, Delete bool }

// Actor acts with the rights of one visitor, and with no others.
type Actor interface {
	// May returns the rights on an Installation, whether there is one or not; without a name, on all of
	// a namespace.
	May(ctx context.Context, namespace, name string) (Rights, error)
	// Do carries a request out, and returns what the visitor may not expect.
	Do(ctx context.Context, request Request) (remarks []string, err error)
	// Stored returns the plan of the next job of an Installation that is stored.
	Stored(ctx context.Context, inst *v1alpha1.Installation) (*StoredPlan, error)
	// Planner returns what works out what would happen; nil if this console does not.
	Planner() Planner
}

// Planner works out what would happen, with the rights of one visitor.
type Planner interface {
	// Plan returns what a job of an Installation would change.
	Plan(ctx context.Context, namespace, name string) (*Plan, error)
	// Uninstalls returns what a deletion would take away, in order, and what is missing in that.
	Uninstalls(ctx context.Context, namespace, name string) (uninstalls []requests.Uninstall, notes []string, err error)
}

// Plan is what a job would change.
type Plan struct {
	// Notes say what is missing in the plan, or probably not meant.
	Notes []string   `json:"notes,omitempty"`
	Items []PlanItem `json:"items,omitempty"`
	// Follows are the roots that get a job because of what this one exports.
	Follows []string `json:"follows,omitempty"`
	// Waiting are parts that only the job can work out, with the reasons.
	Waiting []PlanWait `json:"waiting,omitempty"`
	Summary string     `json:"summary"`
	// Changes reports whether anything would change, or may.
	Changes bool `json:"changes"`
	// Digest is the name of the plan: the same plan has the same for all users.
	Digest string `json:"digest,omitempty"`
}

// PlanItem is an item with what happens to its objects.
type PlanItem struct {
	Path    string       `json:"path"`
	Target  string       `json:"target,omitempty"`
	Action  diff.Action  `json:"action"`
	Unknown string       `json:"unknown,omitempty"`
	Objects []PlanObject `json:"objects,omitempty"`
}

// PlanObject is what happens to an object on a cluster.
type PlanObject struct {
	Action diff.Action `json:"action"`
	Kind   string      `json:"kind"`
	Name   string      `json:"name"`
	// Cluster names an earlier cluster of the item.
	Cluster string `json:"cluster,omitempty"`
	// Note says where an object moves, why it stays, or why nothing is known.
	Note   string      `json:"note,omitempty"`
	Fields []PlanField `json:"fields,omitempty"`
}

// PlanField is a field that changes. Of a secret one there are no lines.
type PlanField struct {
	Path   string      `json:"path"`
	Secret bool        `json:"secret,omitempty"`
	Action diff.Action `json:"action"`
	Lines  []diff.Line `json:"lines,omitempty"`
}

// PlanWait is a part of which only the job can say what it becomes.
type PlanWait struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}
