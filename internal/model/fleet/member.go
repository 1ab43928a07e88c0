package fleet

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job"
)

// state is how far the Installation of a Target is.
type state int

const (
	// missing has no Installation, outdated has one with another content than is wanted.
	missing state = iota
	outdated
	// running has what is wanted, and its job has not ended; succeeded and failed have ended.
	running
	succeeded
	failed
	// wentBack has failed with what is wanted, and has an earlier content again.
	wentBack
	// changed was given what is wanted, and another client has changed it.
	changed
	// blocked cannot have what is wanted.
	blocked
)

// Member is a Target of a Fleet with its Installation.
type Member struct {
	// Target is the name of the Target, Wave that of its wave.
	Target, Wave string
	// Installation is nil if the Target has no Installation.
	Installation *v1alpha1.Installation

	wave    int
	desired *Desired
	state   state
	// busy says that the Installation has a job, whatever it is for.
	busy bool
	// why says why it is blocked or does not go on.
	why string
}

// fails reports whether it counts as not ready, until a user acts.
func (m *Member) fails() bool { return m.state == failed || m.state == wentBack || m.state == changed }

// pending reports whether it is still to be written.
func (m *Member) pending() bool { return m.state == missing || m.state == outdated }

// isOf reports whether an Installation belongs to a Fleet.
func isOf(inst *v1alpha1.Installation, fleet *fleetv1alpha1.Fleet) bool {
	return inst.Annotations[fleetv1alpha1.FleetUIDAnnotation] == string(fleet.UID) && inst.Labels[fleetv1alpha1.FleetLabel] == LabelValue(fleet.Name)
}

// outcome is how the newest job of an Installation stands.
type outcome int

const (
	// idle has no job for its specification.
	idle outcome = iota
	busy
	good
	bad
)

// outcomeOf judges the newest job of an Installation. A request counts before a job that has ended:
// between a request and its job, the status still shows the end of the job before.
func outcomeOf(inst *v1alpha1.Installation) outcome {
	status, phase := &inst.Status, inst.Status.InstallationPhase.Current()
	switch v1alpha1.Operation(inst.Annotations[v1alpha1.OperationAnnotation]) {
	case v1alpha1.ReconcileOperation, v1alpha1.ForceReconcileOperation, v1alpha1.DataUpdateOperation, v1alpha1.InterruptOperation, v1alpha1.AbortOperation:
		return busy
	}
	switch {
	case job.Unfinished(status.JobID, status.JobIDFinished), predicates.Admitted(inst):
		return busy
	case status.JobID == "" || status.ObservedGeneration != inst.Generation:
		return idle
	case phase.IsFailed():
		return bad
	case phase.IsFinal():
		return good
	}
	return busy
}

// judge says how far a member is.
func (o *Observation) judge(m *Member) error {
	inst := m.Installation
	if m.desired.Lacks != "" {
		m.state, m.why = blocked, m.desired.Lacks
		return nil
	}
	if inst == nil {
		m.state = missing
		return nil
	}
	if m.why = o.refuses(inst); m.why != "" {
		m.state = blocked
		return nil
	}
	end := outcomeOf(inst)
	m.busy = end == busy
	if !isOf(inst, o.Fleet) || inst.Annotations[fleetv1alpha1.AppliedAnnotation] != m.desired.Digest {
		m.state = outdated
		if isOf(inst, o.Fleet) && inst.Annotations[fleetv1alpha1.WentBackFromAnnotation] == m.desired.Digest {
			m.state, m.why = wentBack, "Installation "+inst.Name+" has failed, and went back"
		}
		return nil
	}
	return o.judgeUpdated(m, end)
}

func (o *Observation) judgeUpdated(m *Member, end outcome) error {
	inst := m.Installation
	if m.state = running; end == busy {
		m.why = delivery.DeferralMessage(inst.Status.Conditions)
		return nil
	}
	present, err := o.specDigest(inst)
	switch {
	case err != nil:
		return fmt.Errorf("installation %s: %w", inst.Name, err)
	case present != m.desired.SpecDigest:
		m.state, m.why = changed, "the specification of Installation "+inst.Name+" is not what the Fleet has written: remove its annotation "+fleetv1alpha1.AppliedAnnotation+", and the Fleet writes it again"
	case end == idle:
		// Another client has taken the request away.
		m.state = outdated
	case end == bad:
		m.state, m.why = failed, "Installation "+inst.Name+" has failed"
	default:
		m.state = succeeded
	}
	return nil
}

// refuses says why a Fleet must not write an Installation; empty if it may.
func (o *Observation) refuses(inst *v1alpha1.Installation) string {
	owner := types.UID(inst.Annotations[fleetv1alpha1.FleetUIDAnnotation])
	controller := metav1.GetControllerOf(inst)
	switch {
	case inst.DeletionTimestamp != nil:
		return "Installation " + inst.Name + " is being deleted"
	case owner == o.Fleet.UID:
		return ""
	case owner != "" && o.Fleets[owner] != "":
		return "Installation " + inst.Name + " belongs to Fleet " + o.Fleets[owner]
	case !predicates.IsRoot(inst):
		return "Installation " + inst.Name + " is a part of another one"
	case controller != nil:
		return "Installation " + inst.Name + " belongs to " + controller.Kind + " " + controller.Name
	}
	return o.Managed(inst)
}
