package syncplan

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// World is the input of a plan.
type World struct {
	Sync *v1alpha1.TargetSync
	// Items are those of the source, also those that are not selected. Listed is false
	// if nothing is to be selected, so that the source was not asked.
	Items  []Item
	Listed bool
	// Targets and secrets are those in the namespace, including those of other owners.
	Targets map[string]*v1alpha1.Target
	Secrets map[string]Secret
	// Suspects are Targets that were missing in the lists before, and since when.
	Suspects map[string]time.Time
	Now      time.Time
}

// Action is what to do for a shoot or a Secret.
type Action string

const (
	// Keep means that nothing has to change.
	Keep Action = "keep"
	// RequestCredentials means that credentials of a shoot are due.
	RequestCredentials Action = "request credentials"
	// CopySecret means that a Secret of the source is to be copied.
	CopySecret Action = "copy Secret"
	// WriteTarget means that only the Target is to be written.
	WriteTarget Action = "write Target"
	// Skip means that there is nothing to do for now, and why.
	Skip Action = "skip"
	// Refuse means that it cannot be synchronised, and why.
	Refuse Action = "refuse"
)

// Step is what to do for a shoot, a Secret, or the source itself.
type Step struct {
	Do   Action
	Name string
	// Of is nil for the source itself.
	Of *Item
	// Why is for skip and refuse.
	Why string
}

// Plan is what to do.
type Plan struct {
	Steps []Step
	// Remove are names of Targets and Secrets without a shoot or Secret in the source.
	Remove []string
	// Held are those of them that are removed only if they are missing again.
	Held []string
	// Suspects are to be given to the next plan.
	Suspects map[string]time.Time
}

const (
	// fewVanished is how many Targets may be removed at once without a second look, and
	// more only if they are not most of all.
	fewVanished = 5
	// SecondLook is how much later the source must be without them again.
	SecondLook = time.Minute
)

// New computes the plan.
func New(w World) Plan {
	p := Plan{Suspects: map[string]time.Time{}}
	wanted := map[string]bool{}
	for i := range w.Items {
		of := &w.Items[i]
		if !of.Selected {
			continue
		}
		wanted[of.Name] = true
		p.Steps = append(p.Steps, w.stepFor(of))
	}
	if w.Sync.Spec.CreateTargetToSource {
		own := w.stepForSource(wanted)
		wanted[own.Name] = true
		p.Steps = append(p.Steps, own)
	}
	w.removals(&p, wanted)
	return p
}

// stepFor returns the step for a shoot or a Secret.
func (w World) stepFor(of *Item) Step {
	s := Step{Name: of.Name, Of: of}
	existing, exists := w.Secrets[of.Name]
	target := w.Targets[of.Name]
	switch {
	case of.Name == w.Sync.Spec.SecretRef.Name:
		return s.refused("it has the name of the Secret with the access to the source (spec.secretRef), which is not overwritten: rename that Secret")
	case exists && !existing.Ours:
		return s.refused(Collision("Secret", w.Sync.Namespace, of.Name))
	case target != nil && !Ours(target):
		return s.refused(Collision("Target", w.Sync.Namespace, of.Name))
	case of.Shoot != nil:
		return w.stepForShoot(s, existing, exists, target)
	case of.Copied.problem != nil:
		return s.refused(of.Copied.problem.Error())
	case !exists || existing.hash != of.Copied.hash || existing.kind != corev1.SecretTypeOpaque || existing.shootUID != "":
		s.Do = CopySecret
	default:
		s.Do = w.unlessTarget(s)
	}
	return s
}

func (w World) stepForShoot(s Step, existing Secret, exists bool, target *v1alpha1.Target) Step {
	switch {
	case s.Of.deleting:
		return s.skipped("the shoot is being deleted; its Target goes with it")
	case exists && w.Now.Before(renewal(existing, target, *s.Of, w.Now)):
		s.Do = w.unlessTarget(s)
	case !s.Of.Shoot.reachable:
		return s.skipped("the shoot has no address yet: status.advertisedAddresses has none of the names " + strings.Join(apiServers, ", "))
	default:
		s.Do = RequestCredentials
	}
	return s
}

// unlessTarget returns the action that is left when the Secret is up to date.
func (w World) unlessTarget(s Step) Action {
	if _, changed := WantedTarget(w.Sync, s, w.Targets[s.Name], w.Secrets[s.Name].Issued); changed {
		return WriteTarget
	}
	return Keep
}

// stepForSource returns the step for the Target to the source itself.
func (w World) stepForSource(wanted map[string]bool) Step {
	s := Step{Name: sourceTargetName(w.Sync)}
	target := w.Targets[s.Name]
	switch {
	case wanted[s.Name]:
		return s.refused("a shoot or Secret of the source has the name of the Target to the source: choose another one in spec.targetToSourceName")
	case target != nil && !Ours(target):
		return s.refused(Collision("Target", w.Sync.Namespace, s.Name))
	}
	s.Do = w.unlessTarget(s)
	return s
}

func sourceTargetName(sync *v1alpha1.TargetSync) string {
	if sync.Spec.TargetToSourceName != "" {
		return sync.Spec.TargetToSourceName
	}
	return sync.Spec.SourceNamespace
}

// Collision says that an object of another owner has the name of one of ours.
func Collision(kind, namespace, name string) string {
	return fmt.Sprintf("%s %s/%s belongs to another owner and is not overwritten: rename or delete it, or let it be adopted with the label %s=%s",
		kind, namespace, name, v1alpha1.TargetSyncLabel, v1alpha1.TargetSyncLabelValue)
}

func (s Step) refused(why string) Step {
	s.Do, s.Why = Refuse, why
	return s
}

func (s Step) skipped(why string) Step {
	s.Do, s.Why = Skip, why
	return s
}

// Wake says when the next run must come for credentials of shoots at the latest; zero without such
// credentials. Credentials that are due already, and failed, wait for the next attempt.
func (w World) Wake() (first time.Time) {
	for i := range w.Items {
		of := &w.Items[i]
		existing, exists := w.Secrets[of.Name]
		if !of.Selected || of.Shoot == nil || !exists || of.deleting {
			continue
		}
		at := renewal(existing, w.Targets[of.Name], *of, w.Now)
		if !at.After(w.Now) {
			continue
		}
		if at = latest(at, existing); first.IsZero() || at.Before(first) {
			first = at
		}
	}
	return first
}

// removals finds objects that were made and are no longer wanted.
func (w World) removals(p *Plan, wanted map[string]bool) {
	listed := map[string]bool{}
	for i := range w.Items {
		listed[w.Items[i].Name] = true
	}
	made := w.made()
	var vanished []string
	for _, name := range made {
		switch {
		case wanted[name]:
		case listed[name] || !w.Listed:
			p.Remove = append(p.Remove, name)
		default:
			vanished = append(vanished, name)
		}
	}
	// A source that has lost its data answers like a source whose clusters are deleted.
	sudden := len(vanished) > fewVanished && 2*len(vanished) > len(made)
	for _, name := range vanished {
		since, suspected := w.Suspects[name]
		if !suspected {
			since = w.Now
		}
		if (sudden || suspected) && w.Now.Sub(since) < SecondLook {
			p.Held, p.Suspects[name] = append(p.Held, name), since
		} else {
			p.Remove = append(p.Remove, name)
		}
	}
}

// made are the names of all that was made, in order.
func (w World) made() []string {
	found := map[string]bool{}
	for name, target := range w.Targets {
		if Ours(target) {
			found[name] = true
		}
	}
	for name, existing := range w.Secrets {
		if existing.Ours && name != w.Sync.Spec.SecretRef.Name {
			found[name] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
