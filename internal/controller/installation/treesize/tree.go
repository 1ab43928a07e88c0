package treesize

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job/ancestor"
	"go.landscaper.dev/internal/runtime/readthrough"
)

// Member is an Installation in its tree, of which no blueprint can make more than a tree may have. What
// all members take is remembered, so that no tree is counted for each of them; after a start it is
// counted once.
type Member struct {
	// tree is nil as long as nothing is known about it.
	tree atomic.Pointer[tree]
}

// tree is what the members of a tree take, and all of them together.
type tree struct {
	root *Member
	mu   sync.Mutex
	by   map[*Member]plan.Usage
	all  plan.Usage
}

// others returns what all members of the tree of a root take but one. It is false if nothing is
// known about the tree.
func (m *Member) others(root *Member) (plan.Usage, bool) {
	known := root.tree.Load()
	if known == nil {
		return plan.Usage{}, false
	}
	m.tree.Store(known)
	known.mu.Lock()
	defer known.mu.Unlock()
	use := known.by[m]
	// The Installation counts as a member from now on.
	known.by[m] = use
	return known.all.Minus(use), true
}

// Plant begins to remember the tree of a root, unless another worker has done so.
func (m *Member) Plant(by map[*Member]plan.Usage) {
	planted := &tree{root: m, by: by}
	for _, use := range by {
		planted.all = planted.all.Plus(use)
	}
	// Others may add members as soon as it is known.
	members := slices.Collect(maps.Keys(by))
	if !m.tree.CompareAndSwap(nil, planted) {
		return
	}
	for _, member := range members {
		member.tree.Store(planted)
	}
}

// Record remembers what a member takes. A root without subinstallations is not a tree: it takes
// nothing from others.
func (m *Member) Record(use plan.Usage) {
	of := m.tree.Load()
	if of == nil {
		return
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.all = of.all.Minus(of.by[m]).Plus(use)
	of.by[m] = use
	if len(of.by) == 1 && of.root == m && use.Installations == 0 {
		m.tree.Store(nil)
	}
}

// End takes a member that no longer exists out of its tree.
func (m *Member) End() {
	of := m.tree.Swap(nil)
	if of == nil {
		return
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	of.all = of.all.Minus(of.by[m])
	delete(of.by, m)
}

// Usage returns where an Installation is in its tree, and what the others take. Members are known by
// their UIDs.
func Usage(ctx context.Context, reader observe.Reader, inst *v1alpha1.Installation, member func(types.UID) *Member) (plan.Usage, error) {
	// Installations that are nested deeper than allowed are not counted.
	root, depth, err := ancestor.Root(ctx, reader.Cached, inst, plan.MaxDepth+1)
	if err != nil {
		return plan.Usage{}, &repocontext.ReadError{Object: "the root of Installation " + inst.Name, Cause: err}
	}
	use, known := member(inst.UID).others(member(root.UID))
	if !known {
		counted := map[types.UID]plan.Usage{}
		if err := countTree(ctx, reader, root, counted); err != nil {
			return plan.Usage{}, err
		}
		by := make(map[*Member]plan.Usage, len(counted))
		for uid, taken := range counted {
			by[member(uid)] = taken
		}
		member(root.UID).Plant(by)
		use, _ = member(inst.UID).others(member(root.UID))
	}
	use.Depth = depth
	return use, nil
}

// countTree counts what an Installation and all below it take. A terminating Installation takes
// nothing from others: it may not exist any more when the count is remembered, and its deletion
// would never be reported again.
func countTree(ctx context.Context, reader observe.Reader, inst *v1alpha1.Installation, by map[types.UID]plan.Usage) error {
	if _, counted := by[inst.UID]; counted || len(by) > plan.MaxTree {
		return nil
	}
	children, err := reader.Children(ctx, inst.Namespace, inst.Name)
	if err != nil {
		return &repocontext.ReadError{Object: "subinstallations of " + inst.Name, Cause: err}
	}
	children = slices.DeleteFunc(children, predicates.BeingDeleted)
	copies, err := reader.Copies(ctx, inst, readthrough.AsCached)
	if err != nil {
		return err
	}
	taken := plan.Taken(len(children), copies)
	for _, copied := range copies.DataObjects {
		taken.Bytes += readthrough.OmittedSize(copied)
	}
	for _, copied := range copies.Targets {
		taken.Bytes += readthrough.OmittedSize(copied)
	}
	by[inst.UID] = taken
	for _, child := range children {
		if err := countTree(ctx, reader, child, by); err != nil {
			return err
		}
	}
	return nil
}
