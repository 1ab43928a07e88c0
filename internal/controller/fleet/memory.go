package fleet

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/resourceversion"
	"go.landscaper.dev/internal/model/fleet"
	"go.landscaper.dev/internal/runtime/expectations"
)

// lag is how long a cache may be behind a write of ours. Afterwards the cache counts; a conflict stops a
// write that is made from an old version.
const lag = 10 * time.Second

// memory is what a process remembers of a Fleet. A restart costs requests, and nothing else.
type memory struct {
	// written is the last write of the Fleet itself.
	written expectations.Write
	// contents are those of the revisions, and listed says that they are all.
	contents map[string]fleet.Content
	listed   bool
	// ahead are Installations as this process has written them, until the cache shows them.
	ahead map[string]ahead
	// digests are those of specifications, and managers who else writes Installations.
	digests, managers map[types.UID]noted
	// made is what Targets are to have, by their versions.
	made map[fleet.MadeFor]*fleet.Desired
	// reported is when the status was written last.
	reported time.Time
	// asked is what the gates of a wave have said last.
	asked answers
}

type ahead struct {
	inst  *v1alpha1.Installation
	until time.Time
}

// noted is what was found out about one generation of an Installation.
type noted struct {
	generation int64
	text       string
}

type answers struct {
	wave, revision string
	at             time.Time
	verdicts       map[string]fleet.Verdict
}

// wrote remembers an Installation that was written.
func (m *memory) wrote(inst *v1alpha1.Installation, now time.Time) {
	if m.ahead == nil {
		m.ahead = map[string]ahead{}
	}
	m.ahead[inst.Name] = ahead{inst, now.Add(lag)}
}

// deleting remembers that the deletion of an Installation was asked for.
func (m *memory) deleting(inst *v1alpha1.Installation, now time.Time) {
	inst = inst.DeepCopy()
	inst.DeletionTimestamp = &metav1.Time{Time: now}
	m.wrote(inst, now)
}

// newest replaces Installations of a cache by what this process has written since.
func (m *memory) newest(cached []*v1alpha1.Installation, now time.Time) []*v1alpha1.Installation {
	if len(m.ahead) == 0 {
		return cached
	}
	shown := map[string]bool{}
	for i, inst := range cached {
		shown[inst.Name] = true
		own, is := m.ahead[inst.Name]
		switch {
		case !is:
		case own.until.Before(now) || own.inst.UID != inst.UID || !m.behind(inst, own.inst):
			delete(m.ahead, inst.Name)
		default:
			cached[i] = own.inst
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.ahead)) {
		switch own := m.ahead[name]; {
		case shown[name]:
		case own.until.Before(now) || own.inst.DeletionTimestamp != nil || own.inst.Generation > 1:
			// It does not exist any more.
			delete(m.ahead, name)
		default:
			cached = append(cached, own.inst)
		}
	}
	return cached
}

// behind reports whether a cache shows an older version than was written. A deletion returns no version.
func (m *memory) behind(cached, own *v1alpha1.Installation) bool {
	if own.DeletionTimestamp != nil {
		return cached.DeletionTimestamp == nil
	}
	return resourceversion.Older(cached.ResourceVersion, own.ResourceVersion)
}

// spare is by how much more may be remembered than there is.
const spare = 16

// forgetOthers drops what is noted of Installations and Targets that do not exist, or have changed.
func (m *memory) forgetOthers(insts []*v1alpha1.Installation, targets []*v1alpha1.Target) {
	if len(m.digests)+len(m.managers) > 2*len(insts)+spare {
		m.digests, m.managers = nil, nil
	}
	if m.made == nil || len(m.made) > 2*len(targets)+spare {
		m.made = map[fleet.MadeFor]*fleet.Desired{}
	}
}

// note returns what is noted of an Installation, or finds it out.
func note(of *map[types.UID]noted, inst *v1alpha1.Installation, find func() (string, error)) (string, error) {
	if known, is := (*of)[inst.UID]; is && known.generation == inst.Generation {
		return known.text, nil
	}
	text, err := find()
	if err != nil {
		return "", err
	}
	if *of == nil {
		*of = map[types.UID]noted{}
	}
	(*of)[inst.UID] = noted{inst.Generation, text}
	return text, nil
}
