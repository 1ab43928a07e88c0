package execution

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// creations are items that were created, or may have been, and that no cache has shown yet:
// by the UID of their Execution, and by name with the time. A restart forgets them, and
// begins with caches that show all of them.
type creations struct {
	mutex sync.Mutex
	by    map[types.UID]map[string]time.Time
}

// note remembers that an item is about to be created.
func (c *creations) note(exec types.UID, name string, at time.Time) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.by == nil {
		c.by = map[types.UID]map[string]time.Time{}
	}
	if c.by[exec] == nil {
		c.by[exec] = map[string]time.Time{}
	}
	c.by[exec][name] = at
}

// drop forgets an item: a cache shows it, or there is none.
func (c *creations) drop(exec types.UID, name string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.by[exec], name)
	if len(c.by[exec]) == 0 {
		delete(c.by, exec)
	}
}

// at returns when an item was created, and whether it is one of these.
func (c *creations) at(exec types.UID, name string) (time.Time, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	at, known := c.by[exec][name]
	return at, known
}

// of returns the names of the items of an Execution.
func (c *creations) of(exec types.UID) []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Sorted(maps.Keys(c.by[exec]))
}

// end forgets all items of an Execution.
func (c *creations) end(exec types.UID) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	delete(c.by, exec)
}
