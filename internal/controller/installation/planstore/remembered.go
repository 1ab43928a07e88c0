package planstore

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/model/dataflow"
)

// maxCachedBytes is how many bytes of plans are remembered; the oldest are dropped first.
const maxCachedBytes = 32 << 20

// planCache are the stored plans of running jobs, so that they are read again only
// after a restart, or when there are too many.
type planCache struct {
	mu    sync.Mutex
	by    map[types.UID]*storedPlan
	order []types.UID
	bytes int
}

// note remembers a plan, instead of that of an earlier job.
func (r *planCache) note(uid types.UID, p *storedPlan) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(uid)
	if r.by == nil {
		r.by = map[types.UID]*storedPlan{}
	}
	r.by[uid] = p
	r.order = append(r.order, uid)
	for r.bytes += len(p.content); r.bytes > maxCachedBytes; {
		r.drop(r.order[0])
	}
}

// recordCopies adds to a plan what the job has written into its scope.
func (r *planCache) recordCopies(uid types.UID, copies dataflow.Exports) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.by[uid]; p != nil {
		p.copies = namesOfCopies(copies)
	}
}

// of returns the plan of a job, or nil.
func (r *planCache) of(uid types.UID, job string) *storedPlan {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.by[uid]; p != nil && p.job == job {
		return p
	}
	return nil
}

func (r *planCache) forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(uid)
}

func (r *planCache) drop(uid types.UID) {
	p := r.by[uid]
	if p == nil {
		return
	}
	delete(r.by, uid)
	r.bytes -= len(p.content)
	for i, other := range r.order {
		if other == uid {
			r.order = append(r.order[:i], r.order[i+1:]...)
			return
		}
	}
}

// storedPlan is a plan as a job has stored it.
type storedPlan struct {
	job     string
	content []byte
	// copies are what the job has written into its scope; nil if that is unknown.
	copies *CopyNames
	// secrets are the UIDs of the Secrets that hold it, by their names; nil if there may
	// be others.
	secrets map[string]types.UID
}

// namesOfCopies returns the names of what a job has written.
func namesOfCopies(copies dataflow.Exports) *CopyNames {
	names := &CopyNames{map[string]bool{}, map[string]bool{}}
	for _, object := range copies.DataObjects {
		names.data[object.Name] = true
	}
	for _, target := range copies.Targets {
		names.targets[target.Name] = true
	}
	return names
}
