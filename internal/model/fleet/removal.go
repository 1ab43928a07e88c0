package fleet

import (
	"fmt"
	"strconv"
	"time"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	defaultGrace      = 10 * time.Minute
	defaultMaxPercent = 20
)

func (d *decider) policy() fleetv1alpha1.RemovalPolicy {
	if removal := d.Fleet.Spec.Removal; removal != nil && removal.Policy != "" {
		return removal.Policy
	}
	return fleetv1alpha1.RemovalWait
}

func (d *decider) grace() time.Duration {
	if removal := d.Fleet.Spec.Removal; removal != nil && removal.Grace != "" {
		if grace, err := time.ParseDuration(removal.Grace); err == nil {
			return grace
		}
	}
	return defaultGrace
}

// remove decides about Installations without a Target. All of them count for the cap, from the first
// moment: the grace is the time in which a mass of them is seen before the first one is removed.
func (d *decider) remove() {
	for _, m := range d.members {
		if inst := m.Installation; inst != nil && isOf(inst, d.Fleet) && inst.Annotations[fleetv1alpha1.DepartedAnnotation] != "" && !d.writes(inst.Name) {
			d.out.Writes = append(d.out.Writes, comeBack(inst))
		}
	}
	if len(d.departed) == 0 {
		d.out.Used = d.Fleet.Annotations[fleetv1alpha1.AllowRemovalAnnotation] != ""
		d.present(true, reasons.UpToDate, "every Installation has a Target")
		return
	}
	policy := d.policy()
	if policy == fleetv1alpha1.RemovalWait {
		d.present(false, reasons.TargetsMissing, fmt.Sprintf("%d Installations have no Target any more, such as %s: spec.removal.policy is Wait, so they stay as they are", len(d.departed), d.departed[0].Name))
		return
	}
	held := len(d.departed) > d.allowed()
	if held {
		d.present(false, reasons.TooManyRemovals, fmt.Sprintf("%[1]d of %[2]d Installations have no Target any more, such as %[3]s, and %[4]d may be removed at once: none is. If all of them may be: kubectl annotate fleet %[5]s %[6]s=%[1]d",
			len(d.departed), d.total(), d.departed[0].Name, d.allowed(), d.Fleet.Name, fleetv1alpha1.AllowRemovalAnnotation))
	} else {
		d.present(false, reasons.TargetsMissing, fmt.Sprintf("%d Installations have no Target any more, such as %s: spec.removal.policy is %s", len(d.departed), d.departed[0].Name, policy))
	}
	d.removeDeparted(policy, held)
}

func (d *decider) removeDeparted(policy fleetv1alpha1.RemovalPolicy, held bool) {
	for _, inst := range d.departed {
		since, err := time.Parse(time.RFC3339, inst.Annotations[fleetv1alpha1.DepartedAnnotation])
		switch end := since.Add(d.grace()); {
		case inst.DeletionTimestamp != nil:
		case err != nil:
			d.out.Writes = append(d.out.Writes, depart(inst, d.now))
		case end.After(d.now):
			d.out.Wake = d.out.Wake.By(end)
		case held:
		case policy == fleetv1alpha1.RemovalOrphan:
			d.out.Writes = append(d.out.Writes, release(inst))
		default:
			d.out.Writes = append(d.out.Writes, Write{Kind: Delete, Installation: inst})
		}
	}
}

// total is how many Installations the Fleet has.
func (d *decider) total() int {
	total := len(d.departed)
	for _, m := range d.members {
		if m.Installation != nil && isOf(m.Installation, d.Fleet) {
			total++
		}
	}
	return total
}

// allowed is how many Installations may be without a Target.
func (d *decider) allowed() int {
	percent := defaultMaxPercent
	if removal := d.Fleet.Spec.Removal; removal != nil && removal.MaxPercent != nil {
		percent = int(*removal.MaxPercent)
	}
	allowed := max(d.total()*percent/100, 1)
	if by, err := strconv.Atoi(d.Fleet.Annotations[fleetv1alpha1.AllowRemovalAnnotation]); err == nil {
		allowed = max(allowed, by)
	}
	return allowed
}

func (d *decider) writes(name string) bool {
	for _, write := range d.out.Writes {
		if write.Installation.Name == name {
			return true
		}
	}
	return false
}
