package planstore

import (
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/model/dataflow"
)

// maxCachedBytes is how many bytes of plans are remembered; the oldest are dropped first.
const maxCachedBytes = 32 << 20

// Known is what a process remembers of the stored plan of an Installation, so that an Installation
// without one costs no request when its job ends, and no plan is read again. A restart forgets it, and
// costs some reads.
type Known struct {
	mu     sync.Mutex
	exists bool
	// plan is that of a running job; nil if there are too many.
	plan *storedPlan
	// cache counts the plan.
	cache *Cache
}

// Exists reports whether there may be a stored plan.
func (k *Known) Exists() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.exists
}

// RecordCopies remembers what a job that has stored a plan has written into its scope.
func (k *Known) RecordCopies(copies dataflow.Exports) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.plan != nil {
		k.plan.copies = namesOfCopies(copies)
	}
}

// CopiesOf returns what a job has written into its scope, or nil if that is unknown.
func (k *Known) CopiesOf(job string) *CopyNames {
	if known := k.of(job); known != nil {
		return known.copies
	}
	return nil
}

// End forgets the plan.
func (k *Known) End() { k.set(nil, nil) }

func (k *Known) note(exists bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.exists = exists
}

// of returns the plan of a job, or nil.
func (k *Known) of(job string) *storedPlan {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.plan != nil && k.plan.job == job {
		return k.plan
	}
	return nil
}

// set remembers a plan, or none, instead of that of an earlier job.
func (k *Known) set(cache *Cache, p *storedPlan) {
	k.mu.Lock()
	before, counted := k.plan, k.cache
	k.plan, k.cache = p, cache
	k.mu.Unlock()
	if before != nil {
		counted.remove(before)
	}
	if p != nil {
		cache.add(k, p)
	}
}

// evict forgets a plan, if it is still remembered.
func (k *Known) evict(p *storedPlan) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.plan == p {
		k.plan = nil
	}
}

// Cache is what all Installations have in common: how much of their plans is remembered, and which
// plans of earlier processes are known.
type Cache struct {
	mu     sync.Mutex
	recent []rememberedPlan
	bytes  int
	// listed are the namespaces whose plans of earlier processes are known.
	listed map[string]bool
}

type rememberedPlan struct {
	by   *Known
	plan *storedPlan
}

func (c *Cache) add(by *Known, p *storedPlan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent = append(c.recent, rememberedPlan{by, p})
	for c.bytes += len(p.content); c.bytes > maxCachedBytes; {
		oldest := c.recent[0]
		c.recent = slices.Delete(c.recent, 0, 1)
		c.bytes -= len(oldest.plan.content)
		oldest.by.evict(oldest.plan)
	}
}

func (c *Cache) remove(p *storedPlan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := slices.IndexFunc(c.recent, func(known rememberedPlan) bool { return known.plan == p }); at >= 0 {
		c.recent = slices.Delete(c.recent, at, at+1)
		c.bytes -= len(p.content)
	}
}

// isListed reports whether the plans of earlier processes in a namespace are known.
func (c *Cache) isListed(namespace string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listed[namespace]
}

func (c *Cache) noteListed(namespace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listed == nil {
		c.listed = map[string]bool{}
	}
	c.listed[namespace] = true
}

// storedPlan is a plan as a job has stored it.
type storedPlan struct {
	job     string
	content []byte
	// copies are what the job has written into its scope; nil if that is unknown.
	copies *CopyNames
	// secrets are the Secrets that hold it, by their names, as they were stored; nil if there may be
	// others.
	secrets map[string]client.Preconditions
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
