package console

import (
	"context"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// StoredPlan is the plan of a job that waits for approvals, as the server has stored it.
type StoredPlan struct {
	// UID is that of the Installation.
	UID types.UID `json:"uid"`
	// Plan is nil as long as none is stored; then there is nothing else.
	Plan *Plan `json:"plan,omitempty"`
	// Since is when it was stored, Deletion says that it is that of the deletion.
	Since    metav1.Time `json:"since"`
	Deletion bool        `json:"deletion,omitempty"`
	// Unknown counts the parts that only the job can know.
	Unknown int32 `json:"unknown,omitempty"`
	// ApprovedBy are those whose approvals count, Needs how many have to approve; 0 if the visitor may not
	// know. Void are those whose approvals do not count.
	ApprovedBy []string `json:"approvedBy,omitempty"`
	Needs      int      `json:"needs,omitempty"`
	Void       []string `json:"void,omitempty"`
	// Refusal is why the visitor cannot approve it; empty if the visitor can.
	Refusal string `json:"refusal,omitempty"`
	// Earlier is the plan before; nil without one.
	Earlier *EarlierPlan `json:"earlier,omitempty"`
}

// EarlierPlan is the plan before, and in which lines the present one differs.
type EarlierPlan struct {
	Digest     string      `json:"digest"`
	ApprovedBy []string    `json:"approvedBy,omitempty"`
	Lines      []diff.Line `json:"lines,omitempty"`
}

// planWait is what an Installation says about the plan of its next job; empty if none waits. Ahead says
// that the job waits for a time, and may have no plan.
func planWait(node *inspect.Node) (says string, ahead bool) {
	deferral := delivery.Deferral(node.Installation.Status.Conditions)
	if ahead = reasons.AwaitsTime(deferral); ahead || reasons.IsAboutPlan(deferral) {
		says = deferral.Message
	}
	return says, ahead
}

// stored answers with the plan that waits.
func (a *acting) stored(r *http.Request, actor Actor) (any, error) {
	node, _, err := a.installation(r)
	if err != nil {
		return nil, err
	}
	// A large one takes memory.
	end, err := a.plans.begin(r.Context(), visitorOf(r).Name())
	if err != nil {
		return nil, err // says what it waits for
	}
	defer end()
	ctx, cancel := context.WithTimeout(r.Context(), actTimeout)
	defer cancel()
	plan, err := actor.Stored(ctx, node.Installation)
	if err != nil {
		return nil, err // says what was read
	}
	deferral := delivery.Deferral(node.Installation.Status.Conditions)
	if plan.Refusal == "" && plan.Plan != nil && !reasons.AwaitsApproval(deferral) {
		plan.Refusal = "The job does not wait for an approval of this plan."
	}
	return plan, nil
}
