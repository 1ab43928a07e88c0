package expectations

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Creations are objects that were created, or may have been, and that no cache has shown yet:
// by the UID of their owner, and by name with the time. A restart forgets them, and begins with
// caches that show all of them.
type Creations struct {
	mutex sync.Mutex
	by    map[types.UID]map[string]time.Time
}

// Expect remembers that an object is about to be created.
func (c *Creations) Expect(owner types.UID, name string, at time.Time) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.by == nil {
		c.by = map[types.UID]map[string]time.Time{}
	}
	if c.by[owner] == nil {
		c.by[owner] = map[string]time.Time{}
	}
	c.by[owner][name] = at
}

// Forget forgets an object that a cache shows, or that does not exist.
func (c *Creations) Forget(owner types.UID, name string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.by[owner], name)
	if len(c.by[owner]) == 0 {
		delete(c.by, owner)
	}
}

// At returns when an object was created, and whether it is one of these.
func (c *Creations) At(owner types.UID, name string) (time.Time, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	at, known := c.by[owner][name]
	return at, known
}

// Of returns the names of the objects of an owner.
func (c *Creations) Of(owner types.UID) []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Sorted(maps.Keys(c.by[owner]))
}

// ForgetOwner forgets all objects of an owner.
func (c *Creations) ForgetOwner(owner types.UID) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.by, owner)
}

// creationLagLimit is how long a cache may be behind a creation. Afterwards the cache counts: the
// answer to another creation shows an object that exists.
const creationLagLimit = time.Second

// Await forgets the objects that a cache shows, and returns an error if the cache does not show
// all that were created a moment ago. Each attempt in between would try to create all of them
// once more, and read those that exist; the events of the objects trigger the next attempt.
func (c *Creations) Await(owner types.UID, shown func(name string) bool, now time.Time) error {
	for _, name := range c.Of(owner) {
		at, _ := c.At(owner, name)
		if left := creationLagLimit - now.Sub(at); left > 0 && !shown(name) {
			return StaleCacheError{RetryAfter: left}
		}
		c.Forget(owner, name)
	}
	return nil
}

// Any reports whether anything is remembered.
func (c *Creations) Any() bool {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return len(c.by) > 0
}
