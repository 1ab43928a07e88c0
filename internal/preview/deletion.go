package preview

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/requests"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// Uninstalls are all items of a tree in the order in which they go, with the objects that
// go on their clusters. Of a cluster that cannot be asked, they are the recorded ones. What
// remaining items want stays: those of all roots that are not below the tree.
func (p *Previewer) Uninstalls(ctx context.Context, tree *inspect.Node, roots []*inspect.Node) []requests.Uninstall {
	c, uninstalls := p.deletion(ctx, tree, roots)
	for i, t := range c.tasks {
		switch {
		case t.err != nil:
			uninstalls[i].Unknown = append(uninstalls[i].Unknown, c.secrets.hide(t.err.Error()))
		case t.on != "":
			uninstalls[i].Objects, uninstalls[i].Unknown = gone(t.found.Objects)
			uninstalls[i].Moves, uninstalls[i].Stays = moving(t.found.Objects), staying(t.found.Objects)
			uninstalls[i].EarlierClusters = withLeft(uninstalls[i].EarlierClusters, t.found.Objects)
		}
	}
	return uninstalls
}

// deletion compares all items of a tree that is deleted.
func (p *Previewer) deletion(ctx context.Context, tree *inspect.Node, roots []*inspect.Node) (*comparison, []requests.Uninstall) {
	c := &comparison{
		Previewer: p, root: tree.Installation, deletion: true,
		live: liveTrees(append(roots[:len(roots):len(roots)], tree)), secrets: newSecrets(), future: newFuture(p.Reader),
	}
	uninstalls := requests.Uninstalls(tree)
	for _, uninstall := range uninstalls {
		c.removed(uninstall)
	}
	parallelize.Do(len(uninstalls), func(i int) {
		// An item without a Target has nothing on a cluster that could be asked.
		if t := c.tasks[i]; t.object != nil && t.object.Spec.Target != nil && c.Comparers[t.object.Spec.Type] != nil {
			c.compare(ctx, t)
		}
	})
	c.moves(ctx)
	return c, uninstalls
}

// OfDeletion works out what the deletion of the Installation at the top of a tree would change.
func (p *Previewer) OfDeletion(ctx context.Context, tree *inspect.Node, roots []*inspect.Node) (*Result, error) {
	c, uninstalls := p.deletion(ctx, tree, roots)
	for i, t := range c.tasks {
		switch {
		case uninstalls[i].Kept:
			t.found = rollout.Forecast{}
		case t.object != nil && !t.compared:
			t.found = recordedRemoval(t.object)
		}
	}
	return c.whole(ctx)
}

// gone are the objects that will be deleted, and those that only the deletion decides.
func gone(objects []diff.Object) (found []corev1.ObjectReference, unknown []string) {
	for _, object := range objects {
		switch {
		case object.Unknown != "":
			unknown = append(unknown, apply.Describe(object.Kind, object.Namespace, object.Name)+": "+object.Unknown)
		case object.Before != nil && object.Cluster == "" && object.MovesTo == "" && object.Stays == "":
			found = append(found, object.Reference())
		}
	}
	return found, unknown
}

// moving are the objects that others take over.
func moving(objects []diff.Object) (found []requests.Move) {
	for _, object := range objects {
		if object.MovesTo != "" && object.Unknown == "" {
			found = append(found, requests.Move{Object: object.Reference(), To: object.MovesTo})
		}
	}
	return found
}

// staying are the objects that are left where they are.
func staying(objects []diff.Object) (found []requests.Stay) {
	for _, object := range objects {
		if object.Stays != "" && object.Unknown == "" {
			found = append(found, requests.Stay{Object: object.Reference(), Reason: object.Stays})
		}
	}
	return found
}

// withLeft drops what is recorded on earlier clusters and does not exist there any more: an interrupted
// job has deleted it and not recorded that. It adds what would be left on a cluster to which the Target
// led when the item was deployed: the record does not know yet that it leads elsewhere.
func withLeft(recorded []requests.Leftovers, objects []diff.Object) []requests.Leftovers {
	all := make([]requests.Leftovers, 0, len(recorded))
	for _, left := range recorded {
		left.Objects = slices.DeleteFunc(slices.Clone(left.Objects), func(ref corev1.ObjectReference) bool {
			return slices.ContainsFunc(objects, func(object diff.Object) bool {
				return object.Cluster == left.Cluster && object.Before == nil && object.Unknown == "" && apply.Same(object.Reference(), ref)
			})
		})
		if len(left.Objects) > 0 || left.Release != "" {
			all = append(all, left)
		}
	}
	for _, object := range objects {
		if object.Cluster == "" || object.Before == nil || slices.ContainsFunc(recorded, func(left requests.Leftovers) bool { return left.Cluster == object.Cluster }) {
			continue
		}
		at := slices.IndexFunc(all, func(left requests.Leftovers) bool { return left.Cluster == object.Cluster })
		if at < 0 {
			at, all = len(all), append(all, requests.Leftovers{Cluster: object.Cluster})
		}
		all[at].Objects = append(all[at].Objects, object.Reference())
	}
	return all
}
