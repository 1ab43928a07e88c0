package fleet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// Decision is what follows from an observation.
type Decision struct {
	// Needs are the revisions whose content has to be read before anything else follows.
	Needs []string
	// Store is the content that has to be stored as a revision before anything is written; nil if it is.
	Store *Content
	// Asks is the wave whose gates have to be asked, with its Installations; nil if none.
	Asks *Question
	// Writes are what is to be written, at the same time.
	Writes []Write
	// Status is what the status is to be. Writes wait until it is stored if Entered says that the roll-out
	// enters another state with it.
	Status  fleetv1alpha1.FleetStatus
	Entered bool
	// Allowed says that the permission to remove has been used, and is to be removed.
	Used bool
	// Released says that the Fleet is deleted and has no Installation any more.
	Released bool
	// Wake is what triggers the next reconcile.
	Wake job.Wake
}

// Question asks the gates of a wave.
type Question struct {
	Wave    fleetv1alpha1.Wave
	Members []*Member
}

// decider works out one decision.
type decider struct {
	*Observation
	now      time.Time
	out      Decision
	content  Content
	revision string
	waves    []fleetv1alpha1.Wave
	members  []*Member
	departed []*v1alpha1.Installation
	// halt says why nothing is begun, with its reason.
	halt   string
	reason reasons.Reason
}

// gateRecheck is how often closed gates are asked again.
const gateRecheck = 30 * time.Second

// Decide says what is to be done. It is total: each decision has something to do, or a wake.
func Decide(o *Observation, now time.Time) (Decision, error) {
	d := &decider{Observation: o, now: now}
	d.out.Status = *o.Fleet.Status.DeepCopy()
	d.out.Status.ObservedGeneration = o.Fleet.Generation
	d.out.Wake = job.OnChange("Fleet", o.Fleet.Name)
	if o.Fleet.DeletionTimestamp != nil {
		d.end()
		return d.out, nil
	}
	if err := d.decide(); err != nil {
		return Decision{}, err
	}
	return d.out, nil
}

func (d *decider) decide() error {
	selected, err := Selected(&d.Fleet.Spec.Targets, d.Targets)
	if err == nil {
		err = d.choose()
	}
	if err != nil {
		d.stop(reasons.InvalidSpec, err.Error())
		return nil
	}
	if limit := int(d.Fleet.Spec.Targets.Limit); limit > 0 && len(selected) > limit {
		d.stop(reasons.TooManyTargets, fmt.Sprintf("%d Targets are selected, and spec.targets.limit is %d: nothing is changed", len(selected), limit))
		return nil
	}
	if d.NotFound != "" && d.Fleet.Spec.Version != nil && d.Fleet.Spec.Version.Channel != "" {
		d.stop(reasons.NoVersion, d.NotFound)
		return nil
	}
	if len(d.out.Needs) > 0 {
		return nil
	}
	d.waves = wavesOf(&d.Fleet.Spec)
	d.members, d.departed, err = d.Observation.members(d.content, d.revision, selected, d.waves)
	if err != nil {
		d.stop(reasons.InvalidSpec, err.Error())
		return nil
	}
	return d.rollOut()
}

// stop ends the decision: nothing is changed until something else is.
func (d *decider) stop(reason reasons.Reason, message string) {
	d.halt, d.reason = message, reason
	d.ready()
}

// choose chooses the content that is rolled out: the newest one, unless another one has to end before.
func (d *decider) choose() error {
	newest := ContentOf(&d.Fleet.Spec, d.Found)
	if err := newest.check(); err != nil {
		return err
	}
	name, err := newest.Revision(d.Fleet.Name)
	if err != nil {
		return err
	}
	d.content, d.revision = newest, name
	status := &d.Fleet.Status
	if present := status.Revision; present != "" && present != name && d.waits() {
		switch before, known := d.Contents[present]; {
		case known:
			d.content, d.revision = before, present
		case !d.Listed:
			d.out.Needs = append(d.out.Needs, present)
		}
	}
	return nil
}

// waits reports whether the present roll-out ends before the next one begins. One that has stopped does
// not end by itself.
func (d *decider) waits() bool {
	rollout, status := d.Fleet.Spec.Rollout, &d.Fleet.Status
	if rollout == nil || rollout.OnNewVersion != fleetv1alpha1.NewVersionWait || status.Wave == "" {
		return false
	}
	return !slices.ContainsFunc(status.Waves, func(w fleetv1alpha1.WaveStatus) bool {
		return w.State == fleetv1alpha1.WaveStopped || w.State == fleetv1alpha1.WaveGoingBack
	})
}

// rollOut works out the waves, the removal, and the status.
func (d *decider) rollOut() error {
	if _, stored := d.Contents[d.revision]; !stored {
		d.out.Store = &d.content
	}
	status := &d.out.Status
	begun := status.Revision != d.revision
	if begun {
		status.Revision, status.Waves = d.revision, nil
	}
	status.Version = d.version()
	if err := d.rollWaves(); err != nil {
		return err
	}
	if status.Wave == "" && status.LastRevision != d.revision {
		status.LastRevision, begun = d.revision, true
	}
	d.out.Entered = begun || entered(d.Fleet.Status.Waves, status.Waves)
	d.paused()
	d.remove()
	d.count()
	d.ready()
	return nil
}

// version is that of the component in the content.
func (d *decider) version() string {
	if component := d.content.Template.Spec.ComponentDescriptor; d.content.Version == "" && component != nil && component.Reference != nil {
		return component.Reference.Version
	}
	return d.content.Version
}

// entered reports whether a wave has another state.
func entered(before, after []fleetv1alpha1.WaveStatus) bool {
	return !slices.EqualFunc(before, after, func(a, b fleetv1alpha1.WaveStatus) bool { return a.Name == b.Name && a.State == b.State })
}

// paused takes away what would begin something.
func (d *decider) paused() {
	if rollout := d.Fleet.Spec.Rollout; rollout != nil && rollout.Paused != nil {
		d.out.Writes, d.out.Asks = nil, nil
	}
}

// end releases or deletes all Installations of a Fleet that is deleted. Its specification names the policy,
// so that no cap counts.
func (d *decider) end() {
	left := 0
	for _, inst := range d.Installations {
		if !isOf(inst, d.Fleet) {
			continue
		}
		left++
		switch {
		case d.policy() != fleetv1alpha1.RemovalDelete:
			d.out.Writes = append(d.out.Writes, release(inst))
		case inst.DeletionTimestamp == nil:
			d.out.Writes = append(d.out.Writes, Write{Kind: Delete, Installation: inst})
		}
	}
	d.out.Released = left == 0
	d.out.Status.Departed = int32(min(left, math.MaxInt32))
	if left > 0 {
		d.halt, d.reason = fmt.Sprintf("the Fleet is deleted, and %d Installations are left", left), reasons.Removing
		d.ready()
	}
}

// errSoak is about a soak time that the schema would have refused.
var errSoak = errors.New("the soak time is not a time span such as 30m")
