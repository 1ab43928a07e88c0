package blueprint

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/singleflight"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/repository"
)

// Sizes of a cache that suits a server.
const leastCache, mostCache = 20 << 20, 96 << 20

// CacheBytes is how large a cache is that suits a server whose heap has a limit; 0 is no limit.
func CacheBytes(heap int64) int64 {
	if heap <= 0 {
		return mostCache
	}
	return min(max(heap/8, leastCache), mostCache)
}

// entryOverhead is what an entry or a file costs beside its content, roughly.
const entryOverhead = 512

// Cache keeps the last used blueprints in memory, so that they are unpacked and parsed once. The
// content of a resource is still read each time, with the credentials of the caller, and the
// content says which blueprint it is. So no caller gets a blueprint from the cache that the
// registry would have refused. The blobs behind blueprints are kept by the cache of components.
type Cache struct {
	max     int64
	loading singleflight.Group
	load    func(context.Context, *packed) (*Blueprint, error)
	budget  *budget

	mu   sync.Mutex
	used int64
	// order has the last used first.
	order *list.List
	kept  map[string]*list.Element
}

type kept struct {
	key       string
	blueprint *Blueprint
	cost      int64
}

// NewCache returns a cache of at most max bytes. Large blueprints that are used at the same time may
// have twice as much.
func NewCache(max int64) *Cache {
	c := &Cache{max: max, order: list.New(), kept: map[string]*list.Element{}, budget: &budget{limit: 2 * max, wait: longestWait}}
	c.load = c.unpack
	return c
}

// unpack loads a blueprint within the budget of the process.
func (c *Cache) unpack(ctx context.Context, content *packed) (*Blueprint, error) {
	counted := *content
	counted.loan = &loan{budget: c.budget, ctx: ctx}
	defer counted.loan.end()
	loaded, err := counted.load(ctx)
	if err != nil {
		return nil, err // the caller says the resource
	}
	if files, ok := loaded.Files.(*memfs.Tree); ok {
		counted.loan.keep(files)
	}
	return loaded, nil
}

// Used returns how many bytes the cache holds, roughly.
func (c *Cache) Used() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.used
}

// FromResource loads the blueprint that is the content of a resource. The caller
// may change its Info. A nil cache keeps nothing.
func (c *Cache) FromResource(ctx context.Context, reader *access.Reader, version *repository.Version, resource *descriptor.Resource) (*Blueprint, error) {
	content, err := read(ctx, reader, version, resource)
	if err != nil {
		return nil, err
	}
	loaded, err := c.get(ctx, content)
	if err != nil {
		return nil, fmt.Errorf("load the blueprint of resource %q of component version %s:%s: %w", resource.Name, version.Name, version.Version, err)
	}
	return loaded, nil
}

// get returns the blueprint of a content that the caller has read.
func (c *Cache) get(ctx context.Context, content *packed) (*Blueprint, error) {
	if c == nil {
		return content.load(ctx)
	}
	key := content.digest.String() + " " + content.mediaType
	if found := c.find(key); found != nil {
		return found.copy(), nil
	}
	// Others wait for the first one, who may give up meanwhile.
	ctx = context.WithoutCancel(ctx)
	result, err, _ := c.loading.Do(key, func() (any, error) {
		if found := c.find(key); found != nil {
			return found, nil
		}
		loaded, err := c.load(ctx, content)
		if err == nil {
			c.keep(key, loaded)
		}
		return loaded, err
	})
	if err != nil {
		return nil, err // the caller says the resource
	}
	return result.(*Blueprint).copy(), nil
}

func (c *Cache) find(key string) *Blueprint {
	c.mu.Lock()
	defer c.mu.Unlock()
	element, exists := c.kept[key]
	if !exists {
		return nil
	}
	c.order.MoveToFront(element)
	return element.Value.(*kept).blueprint
}

func (c *Cache) keep(key string, loaded *Blueprint) {
	entry := &kept{key: key, blueprint: loaded, cost: loaded.cost()}
	// One large blueprint must not displace all others.
	if entry.cost > c.max/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[key] = c.order.PushFront(entry)
	c.used += entry.cost
	for c.used > c.max {
		last := c.order.Back()
		old := last.Value.(*kept)
		c.order.Remove(last)
		delete(c.kept, old.key)
		c.used -= old.cost
	}
}

// copy returns a blueprint whose parts may be changed. The files cannot be.
func (b *Blueprint) copy() *Blueprint {
	copied := *b
	copied.Info, copied.Warnings = b.Info.DeepCopy(), slices.Clone(b.Warnings)
	return &copied
}

// cost is roughly what a blueprint takes in memory.
func (b *Blueprint) cost() int64 {
	cost := int64(entryOverhead)
	if files, ok := b.Files.(*memfs.Tree); ok {
		// The description is there as text and as objects.
		info, err := files.Stat(v1alpha1.BlueprintFileName)
		if err == nil {
			cost += 4 * info.Size()
		}
		cost += files.Bytes() + entryOverhead*int64(files.Entries())
	}
	return cost
}
