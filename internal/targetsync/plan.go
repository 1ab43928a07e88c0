package targetsync

import (
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// world is all that a plan follows from.
type world struct {
	sync *v1alpha1.TargetSync
	// items are those of the source, also those that are not selected. Listed is false
	// if nothing is to be selected, so that the source was not asked.
	items  []item
	listed bool
	// targets and secrets are those in the namespace, with those of others.
	targets map[string]*v1alpha1.Target
	secrets map[string]secret
	// suspects are Targets that were missing in the lists before, and since when.
	suspects map[string]time.Time
	now      time.Time
}

// action is what to do for a shoot or a Secret.
type action string

const (
	// keep means that all is as it should be.
	keep action = "keep"
	// requestCredentials means that credentials of a shoot are due.
	requestCredentials action = "request credentials"
	// copySecret means that a Secret of the source is to be copied.
	copySecret action = "copy Secret"
	// writeTarget means that only the Target is to be written.
	writeTarget action = "write Target"
	// skip means that there is nothing to do for now, and why.
	skip action = "skip"
	// refuse means that it cannot be synchronised, and why.
	refuse action = "refuse"
)

// step is what to do for a shoot, a Secret, or the source itself.
type step struct {
	do   action
	name string
	// of is nil for the source itself.
	of *item
	// why is for skip and refuse.
	why string
}

// plan is what to do.
type plan struct {
	steps []step
	// remove are names of Targets and Secrets without a shoot or Secret in the source.
	remove []string
	// held are those of them that are removed only if they are missing again.
	held []string
	// suspects are to be given to the next plan.
	suspects map[string]time.Time
}

const (
	// fewVanished is how many Targets may be removed at once without a second look, and
	// more only if they are not most of all.
	fewVanished = 5
	// secondLook is how much later the source must be without them again.
	secondLook = time.Minute
)

// newPlan works out what to do.
func newPlan(w world) plan {
	p := plan{suspects: map[string]time.Time{}}
	wanted := map[string]bool{}
	for i := range w.items {
		of := &w.items[i]
		if !of.selected {
			continue
		}
		wanted[of.name] = true
		p.steps = append(p.steps, w.stepFor(of))
	}
	if w.sync.Spec.CreateTargetToSource {
		own := w.stepForSource(wanted)
		wanted[own.name] = true
		p.steps = append(p.steps, own)
	}
	w.removals(&p, wanted)
	return p
}

// stepFor decides about a shoot or a Secret.
func (w world) stepFor(of *item) step {
	s := step{name: of.name, of: of}
	existing, exists := w.secrets[of.name]
	target := w.targets[of.name]
	switch {
	case of.name == w.sync.Spec.SecretRef.Name:
		return s.refused("it has the name of the Secret with the access to the source (spec.secretRef), which is not overwritten: rename that Secret")
	case exists && !existing.ours:
		return s.refused(collision("Secret", w.sync.Namespace, of.name))
	case target != nil && !ours(target):
		return s.refused(collision("Target", w.sync.Namespace, of.name))
	case of.shoot != nil:
		return w.stepForShoot(s, existing, exists, target)
	case of.copied.problem != nil:
		return s.refused(of.copied.problem.Error())
	case !exists || existing.hash != of.copied.hash || existing.kind != corev1.SecretTypeOpaque || existing.shootUID != "":
		s.do = copySecret
	default:
		s.do = w.unlessTarget(s)
	}
	return s
}

func (w world) stepForShoot(s step, existing secret, exists bool, target *v1alpha1.Target) step {
	switch {
	case s.of.deleting:
		return s.skipped("the shoot is being deleted; its Target goes with it")
	case exists && w.now.Before(renewal(existing, target, *s.of, w.now)):
		s.do = w.unlessTarget(s)
	case !s.of.shoot.reachable:
		return s.skipped("the shoot has no address yet (status.advertisedAddresses)")
	default:
		s.do = requestCredentials
	}
	return s
}

// unlessTarget says what is left to do when the Secret is as it should be.
func (w world) unlessTarget(s step) action {
	if _, changed := wantedTarget(w.sync, s, w.targets[s.name], w.secrets[s.name].issued); changed {
		return writeTarget
	}
	return keep
}

// stepForSource decides about the Target to the source itself.
func (w world) stepForSource(wanted map[string]bool) step {
	s := step{name: sourceTargetName(w.sync)}
	target := w.targets[s.name]
	switch {
	case wanted[s.name]:
		return s.refused("a shoot or Secret of the source has the name of the Target to the source: choose another one in spec.targetToSourceName")
	case target != nil && !ours(target):
		return s.refused(collision("Target", w.sync.Namespace, s.name))
	}
	s.do = w.unlessTarget(s)
	return s
}

func sourceTargetName(sync *v1alpha1.TargetSync) string {
	if sync.Spec.TargetToSourceName != "" {
		return sync.Spec.TargetToSourceName
	}
	return sync.Spec.SourceNamespace
}

func collision(kind, namespace, name string) string {
	return fmt.Sprintf("%s %s/%s belongs to somebody else and is not overwritten: rename or delete it, or let it be adopted with the label %s=%s",
		kind, namespace, name, v1alpha1.TargetSyncLabel, v1alpha1.TargetSyncLabelValue)
}

func (s step) refused(why string) step {
	s.do, s.why = refuse, why
	return s
}

func (s step) skipped(why string) step {
	s.do, s.why = skip, why
	return s
}

// wake says when the next run must come for credentials of shoots at the latest; zero if
// there are none. Those that are due already, and failed, wait for the next attempt.
func (w world) wake() (first time.Time) {
	for i := range w.items {
		of := &w.items[i]
		existing, exists := w.secrets[of.name]
		if !of.selected || of.shoot == nil || !exists || of.deleting {
			continue
		}
		at := renewal(existing, w.targets[of.name], *of, w.now)
		if !at.After(w.now) {
			continue
		}
		if at = latest(at, existing); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// removals finds what was made and is no longer wanted.
func (w world) removals(p *plan, wanted map[string]bool) {
	listed := map[string]bool{}
	for i := range w.items {
		listed[w.items[i].name] = true
	}
	made := w.made()
	var vanished []string
	for _, name := range made {
		switch {
		case wanted[name]:
		case listed[name] || !w.listed:
			p.remove = append(p.remove, name)
		default:
			vanished = append(vanished, name)
		}
	}
	// A source that has lost its data answers as one whose clusters are gone.
	sudden := len(vanished) > fewVanished && 2*len(vanished) > len(made)
	for _, name := range vanished {
		since, suspected := w.suspects[name]
		if !suspected {
			since = w.now
		}
		if (sudden || suspected) && w.now.Sub(since) < secondLook {
			p.held, p.suspects[name] = append(p.held, name), since
		} else {
			p.remove = append(p.remove, name)
		}
	}
}

// made are the names of all that was made, in order.
func (w world) made() []string {
	found := map[string]bool{}
	for name, target := range w.targets {
		if ours(target) {
			found[name] = true
		}
	}
	for name, existing := range w.secrets {
		if existing.ours && name != w.sync.Spec.SecretRef.Name {
			found[name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
