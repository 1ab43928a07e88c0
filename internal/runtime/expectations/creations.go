package expectations

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// Creations are the objects of one owner that were created, or may have been, and that no cache has
// shown yet: by name, with the time. A restart forgets them, and begins with caches that show all of
// them.
type Creations struct {
	mutex sync.Mutex
	at    map[string]time.Time
}

// Expect remembers that an object is about to be created.
func (c *Creations) Expect(name string, at time.Time) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.at == nil {
		c.at = map[string]time.Time{}
	}
	c.at[name] = at
}

// Forget forgets an object that a cache shows, or that does not exist.
func (c *Creations) Forget(name string) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if delete(c.at, name); len(c.at) == 0 {
		c.at = nil
	}
}

// At returns when an object was created, and whether it is one of these.
func (c *Creations) At(name string) (time.Time, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	at, known := c.at[name]
	return at, known
}

// Names returns the names of the objects.
func (c *Creations) Names() []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return slices.Sorted(maps.Keys(c.at))
}

// creationLagLimit is how long a cache may be behind a creation. Afterwards the cache counts: the
// answer to another creation shows an object that exists.
const creationLagLimit = time.Second

// Await forgets the objects that a cache shows, and returns an error if the cache does not show
// all that were created a moment ago. Each attempt in between would try to create all of them
// once more, and read those that exist; the events of the objects trigger the next attempt.
func (c *Creations) Await(shown func(name string) bool, now time.Time) error {
	for _, name := range c.Names() {
		at, _ := c.At(name)
		if left := creationLagLimit - now.Sub(at); left > 0 && !shown(name) {
			return StaleCacheError{RetryAfter: left}
		}
		c.Forget(name)
	}
	return nil
}
