// Package changetally counts the objects of clusters that jobs create, change and delete. It is in memory:
// a job that another process has begun is not counted.
package changetally

import (
	"hash/maphash"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
)

// The changes of an object, as bits.
const (
	Created uint8 = 1 << iota
	Changed
	Deleted
)

// maxObjects and maxJobs bound what is remembered. The oldest jobs are forgotten first.
const maxObjects, maxJobs = 200_000, 10_000

// Tally counts the objects of jobs.
type Tally struct {
	mu   sync.Mutex
	seed maphash.Seed
	jobs map[string]map[uint64]uint8
	// last is the job of each root: one that could not be stored is begun again, with another ID.
	last map[types.UID]string
	// order has the jobs from the oldest on, and objects counts those of all.
	order   []string
	objects int
	most    int
}

// New returns a tally.
func New() *Tally {
	return &Tally{seed: maphash.MakeSeed(), jobs: map[string]map[uint64]uint8{}, last: map[types.UID]string{}, most: maxObjects}
}

// Begin begins to count a job of a root, in the place of the one before.
func (t *Tally) Begin(root types.UID, jobID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(t.last[root])
	t.last[root] = jobID
	t.jobs[jobID] = map[uint64]uint8{}
	t.order = append(t.order, jobID)
	if len(t.order) > maxJobs {
		t.drop(t.order[0])
	}
}

// Forget forgets a job of a root, unless another one has begun.
func (t *Tally) Forget(root types.UID, jobID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last[root] == jobID {
		delete(t.last, root)
		t.drop(jobID)
	}
}

func (t *Tally) drop(jobID string) {
	objects, known := t.jobs[jobID]
	if !known {
		return
	}
	t.objects -= len(objects)
	delete(t.jobs, jobID)
	if at := slices.Index(t.order, jobID); at >= 0 {
		t.order = slices.Delete(t.order, at, at+1)
	}
}

// Note notes a change of an object in a job that is counted.
func (t *Tally) Note(jobID string, change uint8, object string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	objects, known := t.jobs[jobID]
	if !known {
		return
	}
	// Two objects with the same sum are too rare to matter for a number that people read.
	sum := maphash.String(t.seed, object)
	if _, has := objects[sum]; !has {
		t.objects++
	}
	objects[sum] |= change
	for t.objects > t.most && len(t.order) > 0 {
		t.drop(t.order[0])
	}
}

// Of returns what a job has changed so far; nil if the job is not counted. An object that a job has created
// counts as created, whatever it has changed of it; one that it has deleted and created again as both.
func (t *Tally) Of(jobID string) *v1alpha1.ObjectCounts {
	t.mu.Lock()
	defer t.mu.Unlock()
	objects, known := t.jobs[jobID]
	if !known {
		return nil
	}
	counts := &v1alpha1.ObjectCounts{}
	for _, changes := range objects {
		if changes&Created != 0 {
			counts.Created++
		}
		if changes&Deleted != 0 {
			counts.Deleted++
		}
		if changes == Changed {
			counts.Changed++
		}
	}
	return counts
}
