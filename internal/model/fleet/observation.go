package fleet

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
)

// Observation is what a decision depends on, besides the time.
type Observation struct {
	Fleet *fleetv1alpha1.Fleet
	// Targets and Installations are those of the namespace.
	Targets       []*v1alpha1.Target
	Installations []*v1alpha1.Installation
	// Fleets are the names of those of the namespace.
	Fleets map[types.UID]string
	// Exists reports whether there is a DataObject.
	Exists func(name string) bool
	// Found is the version that the Channel has found, and NotFound says why it has none.
	Found, NotFound string
	// Contents are those of the revisions that were read or written. Listed says that they are all.
	Contents map[string]Content
	Listed   bool
	// Verdicts are those of the gates of the wave that has come to them, by their names; nil if they were
	// not asked.
	Verdicts map[string]Verdict
	// Managed says who else writes an Installation that does not belong to a Fleet; empty if no other client does.
	Managed func(*v1alpha1.Installation) string
	// SpecDigest is the function of this name, or one that remembers.
	SpecDigest func(*v1alpha1.Installation) (string, error)
	// Made is what was worked out before for versions of Targets; nil remembers nothing.
	Made map[MadeFor]*Desired
}

// MadeFor is from what it follows which content a Target is to have.
type MadeFor struct{ Revision, Target, Version string }

// desired is what a Target is to have, from memory if nothing has changed. Whether there is a DataObject
// is asked each time.
func (o *Observation) desired(content Content, revision string, target *v1alpha1.Target) (*Desired, error) {
	key := MadeFor{revision, target.Name, target.ResourceVersion}
	asks := slices.ContainsFunc(content.Values, func(v fleetv1alpha1.FleetValue) bool { return v.DataObject != "" })
	if known := o.Made[key]; known != nil && !asks {
		return known, nil
	}
	made, err := content.For(o.Fleet.Name, target, o.Exists)
	if err == nil && o.Made != nil {
		o.Made[key] = made
	}
	return made, err
}

// Verdict is what a gate says.
type Verdict struct {
	Open bool
	// Message says why it is closed.
	Message string
}

func (o *Observation) specDigest(inst *v1alpha1.Installation) (string, error) {
	if o.SpecDigest != nil {
		return o.SpecDigest(inst)
	}
	return SpecDigest(&inst.Spec)
}

// members returns the members of a Fleet with a content, and the Installations without a Target.
func (o *Observation) members(content Content, revision string, selected []*v1alpha1.Target, waves []fleetv1alpha1.Wave) (all []*Member, departed []*v1alpha1.Installation, err error) {
	byName := make(map[string]*v1alpha1.Installation, len(o.Installations))
	for _, inst := range o.Installations {
		byName[inst.Name] = inst
	}
	present := make(map[string]bool, len(selected))
	candidates := make([]candidate, 0, len(selected))
	for _, target := range selected {
		desired, err := o.desired(content, revision, target)
		if err != nil {
			return nil, nil, err
		}
		m := &Member{Target: target.Name, Installation: byName[desired.Name], desired: desired}
		present[desired.Name] = true
		if err := o.judge(m); err != nil {
			return nil, nil, err
		}
		one := candidate{name: target.Name, labels: target.Labels}
		if m.Installation != nil && isOf(m.Installation, o.Fleet) {
			one.wave = m.Installation.Labels[fleetv1alpha1.WaveLabel]
		}
		candidates = append(candidates, one)
		all = append(all, m)
	}
	assigned, err := assign(waves, candidates)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range all {
		m.wave = assigned[m.Target]
		m.Wave = waves[m.wave].Name
	}
	for _, inst := range o.Installations {
		if isOf(inst, o.Fleet) && !present[inst.Name] {
			departed = append(departed, inst)
		}
	}
	return all, departed, nil
}

// maxNamed is how many names a message has.
const maxNamed = 3

// named lists the first of some sentences.
func named(all []string) string {
	if more := len(all) - maxNamed; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(all[:maxNamed], "; "), more)
	}
	return strings.Join(all, "; ")
}
