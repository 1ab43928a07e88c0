package deployer

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer/internal/status"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// inOrder sorts items of a cache by name: a cache has no order, and the first item that fits
// counts.
func inOrder(list *v1alpha1.DeployItemList) {
	slices.SortFunc(list.Items, func(a, b v1alpha1.DeployItem) int { return strings.Compare(a.Name, b.Name) })
}

// Others returns the other items of the namespace that deploy to the same cluster, or may do so as
// long as [Item.MayKeep] holds, but for those that are being deleted or that the Execution of the item
// does not want any more. The items of that Execution are as it wants them: the cache may not show
// all of them yet. Of an item that is being deleted, they are those of the cache. All are copies,
// which share the texts of configurations and provider statuses: these must not be written into.
func (i *Item) Others(ctx context.Context) ([]*v1alpha1.DeployItem, error) {
	others, err := i.wanted(ctx)
	if err != nil {
		return nil, err
	}
	return i.heirs(ctx, others)
}

// OthersOn are those items of the namespace that deploy to an earlier cluster of the item.
func (i *Item) OthersOn(ctx context.Context, cluster apideployer.ClusterIdentity) ([]*v1alpha1.DeployItem, error) {
	others, err := i.wanted(ctx)
	if err != nil {
		return nil, err
	}
	there := placement.Site{Address: cluster.Address, Record: placement.Record{ClusterRecord: apideployer.ClusterRecord{Cluster: &cluster}}}
	return slices.DeleteFunc(others, func(other *v1alpha1.DeployItem) bool {
		return !hasTarget(other) || there.Compare(i.siteOf(ctx, other)) != placement.SameCluster
	}), nil
}

// wanted are the other items of the namespace, as their Executions want them.
func (i *Item) wanted(ctx context.Context) ([]*v1alpha1.DeployItem, error) {
	i.forgetParents()
	list := &v1alpha1.DeployItemList{}
	if err := i.reconciler.client.List(ctx, list, client.InNamespace(i.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the DeployItems of namespace %s: %w", i.Namespace, err)
	}
	inOrder(list)
	own := &parent{}
	if i.DeletionTimestamp == nil {
		var err error
		if own, err = i.parent(ctx, i.Labels[v1alpha1.ExecutionManagedByLabel]); err != nil {
			return nil, err
		}
	}
	var others []*v1alpha1.DeployItem
	for at := range list.Items {
		other := &list.Items[at]
		if other.Name == i.Name || other.DeletionTimestamp != nil {
			continue
		}
		if other, stays := own.wants(other); stays {
			others = append(others, copyOf(other))
		}
	}
	return append(others, own.unseen(list.Items)...), nil
}

// Stays reports whether another item is kept: its Execution wants it, and neither the Execution nor
// an Installation above is terminating. The first call after Others asks the API server.
func (i *Item) Stays(ctx context.Context, other *v1alpha1.DeployItem) (bool, error) {
	if other.DeletionTimestamp != nil {
		return false, nil
	}
	of, err := i.parent(ctx, other.Labels[v1alpha1.ExecutionManagedByLabel])
	if err != nil {
		return false, err
	}
	if _, wanted := of.wants(other); !wanted {
		return false, nil
	}
	terminating, err := i.isTerminating(ctx, of)
	return !terminating, err
}

// MayKeep reports whether the item may keep what it does not want any more until the end of the
// job: the removal round follows, in which MayKeep is asked again. A job of the item alone has no
// removal round, and leaves kept objects to the next job of the tree: the last one may have failed
// before other items took them over. Items without an Installation keep nothing.
func (i *Item) MayKeep(ctx context.Context) (bool, error) {
	name := i.Labels[v1alpha1.ExecutionManagedByLabel]
	if name == "" || i.DeletionTimestamp != nil || job.IsRemoval(i.Status.JobID) {
		return false, nil
	}
	own, err := i.parent(ctx, name)
	if err != nil {
		return false, err
	}
	if own.unknown && own.execution == nil {
		return true, nil
	}
	if own.unknown {
		// Without an Installation, there is no removal round.
		_, owned := job.OwnerOf(own.execution, "Installation")
		return owned, nil
	}
	if own.installation == nil || own.execution == nil {
		return false, nil
	}
	first, err := i.anyAncestor(ctx, own, job.RemovesFirst)
	return !first, err
}

// MayMove reports whether another part of the tree may still take over what the item does not want
// any more, although that is not known yet: another item of the Execution whose wants follow from a
// chart or a kustomization, or another Installation. Then the object is kept until the removal
// round.
func (i *Item) MayMove(ctx context.Context) (bool, error) {
	if keeps, err := i.MayKeep(ctx); err != nil || !keeps {
		return false, err
	}
	own, err := i.parent(ctx, i.Labels[v1alpha1.ExecutionManagedByLabel])
	if err != nil {
		return false, err
	}
	if own.unknown {
		return true, nil
	}
	if job.HasOtherParts(own.installation) {
		return true, nil
	}
	return slices.ContainsFunc(own.templates, func(template v1alpha1.DeployItemTemplate) bool {
		return template.Name != i.Labels[v1alpha1.ExecutionManagedNameLabel] && !ownership.KnownWants(&v1alpha1.DeployItem{Spec: v1alpha1.DeployItemSpec{Type: template.Type}})
	}), nil
}

// Yields reports whether the item may take over an object that has the label of another item, the
// holder: the holder is terminating, or its configuration does not list the object any more. A
// holder that does not exist yields nothing: the object may belong to another client.
func (i *Item) Yields(ctx context.Context, holderName string, object corev1.ObjectReference) (bool, error) {
	holder := &v1alpha1.DeployItem{}
	err := i.reconciler.client.Get(ctx, types.NamespacedName{Namespace: i.Namespace, Name: holderName}, holder)
	if apierrors.IsNotFound(err) || holderName == i.Name {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read DeployItem %s, to which %s %s belongs: %w", holderName, object.Kind, object.Name, err)
	}
	if !i.mayHold(ctx, holder) {
		return false, nil
	}
	if stays, err := i.Stays(ctx, holder); err != nil || !stays {
		return err == nil, err
	}
	of, err := i.parent(ctx, holder.Labels[v1alpha1.ExecutionManagedByLabel])
	if err != nil {
		return false, err
	}
	holder, _ = of.wants(holder)
	return ownership.KnownWants(holder) && !ownership.Lists(holder, object), nil
}

// IsNeighbor reports whether another item of the namespace exists and may have objects on the
// cluster of the item.
func (i *Item) IsNeighbor(ctx context.Context, name string) (bool, error) {
	other := &v1alpha1.DeployItem{}
	err := i.reconciler.client.Get(ctx, types.NamespacedName{Namespace: i.Namespace, Name: name}, other)
	if err != nil {
		return false, client.IgnoreNotFound(err)
	}
	return name != i.Name && i.mayHold(ctx, other), nil
}

// RecordedByOthers returns those objects that another item of the namespace has recorded as its
// own: two items may have had an object one after the other. It reads the cache only.
func (i *Item) RecordedByOthers(ctx context.Context, objects []corev1.ObjectReference) ([]corev1.ObjectReference, error) {
	list := &v1alpha1.DeployItemList{}
	if err := i.reconciler.client.List(ctx, list, client.InNamespace(i.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list the DeployItems of namespace %s: %w", i.Namespace, err)
	}
	var found []corev1.ObjectReference
	for at := range list.Items {
		other := &list.Items[at]
		if other.Name == i.Name || other.Status.ProviderStatus == nil {
			continue
		}
		for _, object := range objects {
			// Most items have nothing to do with it, and a record may be large.
			if bytes.Contains(other.Status.ProviderStatus.Raw, []byte(object.Name)) && ownership.Records(other, object) && !slices.Contains(found, object) && i.mayShareCluster(ctx, other) {
				found = append(found, object)
			}
		}
	}
	return found, nil
}

// Keeps says which objects the item does not want any more and has kept, so that others may
// take them over. The condition is written with the end of the job, and removed without kept objects. The last
// call of a job counts.
func (i *Item) Keeps(objects ...string) { i.run.kept = slices.Clone(objects) }

// KeepsInUse says which objects the item does not want any more and keeps beyond the end of the job,
// because something is in them. The condition of Keeps has the reasons.
func (i *Item) KeepsInUse(reasons ...string) { i.run.inUse = slices.Clone(reasons) }

// Moved emits an event: an object belongs to another item from now on.
func (i *Item) Moved(ctx context.Context, object string, to *v1alpha1.DeployItem) {
	name := to.Labels[v1alpha1.ExecutionManagedNameLabel]
	if name == "" {
		name = to.Name
	}
	i.reconciler.events.Eventf(i.DeployItem, nil, corev1.EventTypeNormal, string(reasons.Moved), "ReconcileDeployItem", "%s", job.EventMessage(object+" moved to deploy item "+name))
	log.FromContext(ctx).Info("an object moved to another item", "object", object, "to", to.Name)
}

// noteKept writes into the status at the end of a job what the item has kept.
func (i *Item) noteKept() {
	said := slices.Clone(i.run.inUse)
	if kept := i.run.kept; len(kept) > 0 {
		are, them := number(kept)
		said = append(said, fmt.Sprintf("%s %s removed at the end of the job unless another deploy item takes %s over", listing(kept), are, them))
	}
	if kept := i.run.keptEarlier; len(kept) > 0 {
		are, _ := number(kept)
		said = append(said, fmt.Sprintf("%s %s removed at the end of the job", listing(kept), are))
	}
	job.NotePending(&i.Status.Conditions, strings.Join(said, "; "), i.Generation, status.Stamp(i.reconciler.now()))
}

// number returns the words for one thing or several.
func number(of []string) (are, them string) {
	if len(of) == 1 {
		return "is", "it"
	}
	return "are", "them"
}

// parent is the stored state of the Execution of an item.
type parent struct {
	// unknown says that the Execution may not be read.
	unknown bool
	// execution is nil if it does not exist.
	execution *v1alpha1.Execution
	templates v1alpha1.DeployItemTemplateList
	// installation is nil if it does not exist.
	installation *v1alpha1.Installation
}

// parent reads an Execution and its Installation, once in an attempt. The cache may be stale, or
// not have them.
func (i *Item) parent(ctx context.Context, name string) (*parent, error) {
	if name == "" {
		return &parent{}, nil
	}
	i.mutex.Lock()
	defer i.mutex.Unlock()
	if found := i.parents[name]; found != nil {
		return found, nil
	}
	found := &parent{execution: &v1alpha1.Execution{}, installation: &v1alpha1.Installation{}}
	for _, object := range []client.Object{found.execution, found.installation} {
		// An Execution has the name of its Installation.
		err := i.reconciler.live.Get(ctx, types.NamespacedName{Namespace: i.Namespace, Name: name}, object)
		switch {
		case apierrors.IsForbidden(err):
			// A deployer elsewhere may have fewer rights.
			found.unknown = true
		case client.IgnoreNotFound(err) != nil:
			return nil, fmt.Errorf("read what DeployItem %s/%s belongs to: %w", i.Namespace, i.Name, err)
		}
	}
	if found.execution.UID == "" {
		found.execution = nil
	} else {
		of := parentOf(found.execution)
		found.templates, found.unknown = of.templates, found.unknown || of.unknown
	}
	if found.installation.UID == "" {
		found.installation = nil
	}
	if i.parents == nil {
		i.parents = map[string]*parent{}
	}
	i.parents[name] = found
	return found, nil
}

// parentOf returns what an Execution says itself.
func parentOf(execution *v1alpha1.Execution) *parent {
	templates, err := execution.Spec.Items()
	// The job of the Execution reports the error; what the Execution wants is not known then.
	return &parent{execution: execution, templates: templates, unknown: err != nil}
}

// forgetParents lets parent ask the API server again.
func (i *Item) forgetParents() {
	i.mutex.Lock()
	defer i.mutex.Unlock()
	i.parents = nil
}

// wants returns an item as its Execution wants it, and whether it is wanted at all. An item of
// another Execution, or of an unknown one, is returned as it is.
func (p *parent) wants(item *v1alpha1.DeployItem) (*v1alpha1.DeployItem, bool) {
	if p.unknown || p.execution == nil || item.Labels[v1alpha1.ExecutionManagedByLabel] != p.execution.Name {
		return item, true
	}
	at := slices.IndexFunc(p.templates, func(template v1alpha1.DeployItemTemplate) bool {
		return template.Name == item.Labels[v1alpha1.ExecutionManagedNameLabel]
	})
	if at < 0 {
		return item, false
	}
	wanted := copyOf(item)
	p.fill(wanted, &p.templates[at])
	return wanted, true
}

// unseen returns the items that the Execution wants and that are not among others.
func (p *parent) unseen(seen []v1alpha1.DeployItem) []*v1alpha1.DeployItem {
	if p.unknown || p.execution == nil || p.execution.Status.DeployItemCache == nil {
		return nil
	}
	var unseen []*v1alpha1.DeployItem
	for _, pair := range p.execution.Status.DeployItemCache.ActiveDIs {
		at := slices.IndexFunc(p.templates, func(template v1alpha1.DeployItemTemplate) bool { return template.Name == pair.SpecName })
		if at < 0 || slices.ContainsFunc(seen, func(item v1alpha1.DeployItem) bool { return item.Name == pair.ObjectName }) {
			continue
		}
		item := &v1alpha1.DeployItem{}
		item.Namespace, item.Name = p.execution.Namespace, pair.ObjectName
		item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: p.execution.Name, v1alpha1.ExecutionManagedNameLabel: pair.SpecName}
		p.fill(item, &p.templates[at])
		unseen = append(unseen, item)
	}
	return unseen
}

func (p *parent) fill(item *v1alpha1.DeployItem, template *v1alpha1.DeployItemTemplate) {
	item.Spec.Type, item.Spec.Target, item.Spec.Configuration = template.Type, template.Target.DeepCopy(), sharing(template.Configuration)
}

// isTerminating reports whether all items of an Execution are going to be deleted: the Execution,
// its Installation or one above is being deleted, or is not wanted by its parent any more.
func (i *Item) isTerminating(ctx context.Context, of *parent) (bool, error) {
	if of.unknown || of.execution == nil {
		return false, nil
	}
	if of.execution.DeletionTimestamp != nil {
		return true, nil
	}
	return i.anyAncestor(ctx, of, func(inst *v1alpha1.Installation) bool {
		return inst.DeletionTimestamp != nil || job.IsNotWanted(inst)
	})
}

// anyAncestor reports whether the Installation of an Execution is chosen, or one above it.
func (i *Item) anyAncestor(ctx context.Context, of *parent, chosen func(*v1alpha1.Installation) bool) (bool, error) {
	for inst := of.installation; inst != nil; {
		if chosen(inst) {
			return true, nil
		}
		name := inst.Labels[v1alpha1.EncompassedByLabel]
		if name == "" {
			return false, nil
		}
		above, err := i.parent(ctx, name)
		if err != nil {
			return false, err
		}
		inst = above.installation
	}
	return false, nil
}
