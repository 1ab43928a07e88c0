package installation

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/job"
	"go.landscaper.dev/internal/plan"
	"go.landscaper.dev/internal/sources"
)

// trees remembers what the Installations of each tree take, so that no blueprint can
// make more of it than a tree may have. Nobody has to count a whole tree for each of
// its members; after a start this is done once.
type trees struct {
	mu sync.Mutex
	// roots are the trees by the UIDs of their roots, members the roots of all members.
	roots   map[types.UID]*tree
	members map[types.UID]types.UID
}

// tree is what the members of a tree take, and all of them together.
type tree struct {
	by  map[types.UID]plan.Use
	all plan.Use
}

// others returns what all members of a tree but one take. It is false if nothing is
// known about the tree.
func (t *trees) others(root, member types.UID) (plan.Use, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known, ok := t.roots[root]
	if !ok {
		return plan.Use{}, false
	}
	use := known.by[member]
	// Whoever is asked about counts as a member from now on.
	t.members[member], known.by[member] = root, use
	return known.all.Minus(use), true
}

// plant begins to remember a tree, if nobody was faster.
func (t *trees) plant(root types.UID, by map[types.UID]plan.Use) {
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

// note remembers what a member takes. A root without subinstallations is no tree: it
// takes nothing from anybody.
func (t *trees) note(member types.UID, use plan.Use) {
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

// forget drops a member that is gone, or the tree with its root.
func (t *trees) forget(member types.UID) {
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

// useOfTree returns where an Installation is in its tree, and what the others take.
func (r *Reconciler) useOfTree(ctx context.Context, s *snapshot) (plan.Use, error) {
	// What is nested deeper than is allowed is not looked for.
	root, depth, err := job.Root(ctx, r.Client, s.Inst, plan.MaxDepth+1)
	if err != nil {
		return plan.Use{}, &sources.ReadError{Object: "the root of Installation " + s.Inst.Name, Cause: err}
	}
	use, known := r.trees.others(root.UID, s.Inst.UID)
	if !known {
		by := map[types.UID]plan.Use{}
		if err := r.countTree(ctx, root, by); err != nil {
			return plan.Use{}, err
		}
		r.trees.plant(root.UID, by)
		use, _ = r.trees.others(root.UID, s.Inst.UID)
	}
	use.Depth = depth
	return use, nil
}

// countTree counts what an Installation and all below it take.
func (r *Reconciler) countTree(ctx context.Context, inst *v1alpha1.Installation, by map[types.UID]plan.Use) error {
	if _, counted := by[inst.UID]; counted || len(by) > plan.MaxTree {
		return nil
	}
	children, err := r.sight().Children(ctx, inst.Namespace, inst.Name)
	if err != nil {
		return &sources.ReadError{Object: "subinstallations of " + inst.Name, Cause: err}
	}
	copies, err := r.sight().Copies(ctx, inst)
	if err != nil {
		return err
	}
	by[inst.UID] = plan.Taken(len(children), copies)
	for _, child := range children {
		if err := r.countTree(ctx, child, by); err != nil {
			return err
		}
	}
	return nil
}
