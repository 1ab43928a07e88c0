package treesize

import (
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/runtime/job/ancestor"
	"go.landscaper.dev/internal/runtime/readthrough"
)

// Tracker remembers what the Installations of each tree take, so that no blueprint can make more of
// it than a tree may have. So no tree is counted for each of its members; after a start it is
// counted once.
type Tracker struct {
	mu sync.Mutex
	// roots are the trees by the UIDs of their roots, members the roots of all members.
	roots   map[types.UID]*tree
	members map[types.UID]types.UID
}

// others returns what all members of a tree but one take. It is false if nothing is
// known about the tree.
func (t *Tracker) others(root, member types.UID) (plan.Usage, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.roots[root]
	if !ok {
		return plan.Usage{}, false
	}
	use := known.by[member]
	// The Installation counts as a member from now on.
	t.members[member], known.by[member] = root, use
	return known.all.Minus(use), true
}

// Initialize begins to remember a tree, unless another worker has done so.
func (t *Tracker) Initialize(root types.UID, by map[types.UID]plan.Usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.roots == nil {
		t.roots, t.members = map[types.UID]*tree{}, map[types.UID]types.UID{}
	}
	if t.roots[root] != nil {
		return
	}
	planted := &tree{by: by}
	for uid, use := range by {
		planted.all = planted.all.Plus(use)
		t.members[uid] = root
	}
	t.roots[root] = planted
}

// Record remembers what a member takes. A root without subinstallations is not a tree: it takes
// nothing from others.
func (t *Tracker) Record(member types.UID, use plan.Usage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	root, ok := t.members[member]
	if !ok {
		return
	}
	of := t.roots[root]
	of.all = of.all.Minus(of.by[member]).Plus(use)
	of.by[member] = use
	if len(of.by) == 1 && root == member && use.Installations == 0 {
		delete(t.roots, root)
		delete(t.members, member)
	}
}

// Forget drops a member that no longer exists, or the tree with its root.
func (t *Tracker) Forget(member types.UID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	root, ok := t.members[member]
	if !ok {
		return
	}
	delete(t.members, member)
	of := t.roots[root]
	of.all = of.all.Minus(of.by[member])
	delete(of.by, member)
	if len(of.by) == 0 {
		delete(t.roots, root)
	}
}

// Usage returns where an Installation is in its tree, and what the others take.
func (t *Tracker) Usage(ctx context.Context, reader observe.Reader, inst *v1alpha1.Installation) (plan.Usage, error) {
	// Installations that are nested deeper than allowed are not counted.
	root, depth, err := ancestor.Root(ctx, reader.Cached, inst, plan.MaxDepth+1)
	if err != nil {
		return plan.Usage{}, &repocontext.ReadError{Object: "the root of Installation " + inst.Name, Cause: err}
	}
	use, known := t.others(root.UID, inst.UID)
	if !known {
		by := map[types.UID]plan.Usage{}
		if err := countTree(ctx, reader, root, by); err != nil {
			return plan.Usage{}, err
		}
		t.Initialize(root.UID, by)
		use, _ = t.others(root.UID, inst.UID)
	}
	use.Depth = depth
	return use, nil
}

// tree is what the members of a tree take, and all of them together.
type tree struct {
	by  map[types.UID]plan.Usage
	all plan.Usage
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
