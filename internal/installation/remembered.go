package installation

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
)

// mostRemembered is how many bytes of plans are remembered; the oldest go first.
const mostRemembered = 32 << 20

// remembered are the stored plans of running jobs, so that they are read again only
// after a restart, or when there are too many.
type remembered struct {
	mu    sync.Mutex
	by    map[types.UID]*storedPlan
	order []types.UID
	bytes int
}

// storedPlan is a plan as a job has stored it.
type storedPlan struct {
	job     string
	content []byte
	// copies are what the job has written into its scope; nil if nobody knows.
	copies *copied
	// secrets are the UIDs of the Secrets that hold it, by their names; nil if there may
	// be others.
	secrets map[string]types.UID
}

// copied are the names of the copies of imports that a job has written.
type copied struct{ data, targets map[string]bool }

// namesOfCopies returns the names of what a job has written.
func namesOfCopies(copies dataflow.Exports) *copied {
	names := &copied{map[string]bool{}, map[string]bool{}}
	for _, object := range copies.DataObjects {
		names.data[object.Name] = true
	}
	for _, target := range copies.Targets {
		names.targets[target.Name] = true
	}
	return names
}

// in reports whether lists have all of them, as the job has written them.
func (c *copied) in(jobID string, data *v1alpha1.DataObjectList, targets *v1alpha1.TargetList) bool {
	count := 0
	for i := range data.Items {
		if object := &data.Items[i]; c.data[object.Name] && object.Labels[v1alpha1.DataObjectJobIDLabel] == jobID {
			count++
		}
	}
	for i := range targets.Items {
		if object := &targets.Items[i]; c.targets[object.Name] && object.Labels[v1alpha1.DataObjectJobIDLabel] == jobID {
			count++
		}
	}
	return count == len(c.data)+len(c.targets)
}

// note remembers a plan, instead of that of an earlier job.
func (r *remembered) note(uid types.UID, p *storedPlan) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(uid)
	if r.by == nil {
		r.by = map[types.UID]*storedPlan{}
	}
	r.by[uid] = p
	r.order = append(r.order, uid)
	for r.bytes += len(p.content); r.bytes > mostRemembered; {
		r.drop(r.order[0])
	}
}

// wrote adds to a plan what the job has written into its scope.
func (r *remembered) wrote(uid types.UID, copies dataflow.Exports) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.by[uid]; p != nil {
		p.copies = namesOfCopies(copies)
	}
}

// of returns the plan of a job, or nil.
func (r *remembered) of(uid types.UID, job string) *storedPlan {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.by[uid]; p != nil && p.job == job {
		return p
	}
	return nil
}

func (r *remembered) forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(uid)
}

func (r *remembered) drop(uid types.UID) {
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
