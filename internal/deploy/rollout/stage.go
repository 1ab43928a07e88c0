package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/loss"
	"go.landscaper.dev/internal/deploy/several"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// applyStage applies the objects of a stage. The next one needs all of them.
//
// All of a stage are tried, also after one has failed: the errors are reported together, and the
// next attempt has only those left.
func (r *Rollout) applyStage(ctx context.Context, stage apply.Stage) error {
	if err := r.job.Checkpoint(ctx, "deployer: apply manifests"); err != nil {
		return err
	}
	todo, later := r.todo(stage)
	failures, err := r.applyAll(ctx, todo)
	if err != nil {
		return err
	}
	if len(later) > 0 && r.ending.Left() == 0 {
		rest, _ := r.todo(stage)
		rest = slices.DeleteFunc(rest, func(at int) bool { return !slices.Contains(later, at) })
		more, err := r.applyAll(ctx, rest)
		if err != nil {
			return err
		}
		failures = append(failures, more...)
	}
	if len(failures) > 0 {
		return job.Wrap(failures, published.ApplyObjects, reasons.ApplyNewObject, "")
	}
	if len(r.foreign) > 0 && !slices.Contains(r.applied, false) {
		r.job.Foreign(r.foreign)
	}
	return nil
}

// applyAll applies some objects and returns what has failed.
func (r *Rollout) applyAll(ctx context.Context, todo []int) (failures several.Errors, err error) {
	if err := r.see(ctx, todo); err != nil {
		return nil, err
	}
	outcomes, results, errs := make([]apply.Outcome, len(todo)), make([]result, len(todo)), make([]error, len(todo))
	parallelize.Do(len(todo), func(i int) {
		object := r.objects[todo[i]]
		outcomes[i], errs[i] = r.applier.Apply(ctx, object)
		if outcomes[i].Stored != nil && errs[i] == nil {
			// The answers of all objects together may not fit into the memory.
			results[i] = r.resultOf(object, outcomes[i].Stored)
			outcomes[i].Stored = results[i].stored
		}
	})
	uids := map[apply.Key]types.UID{}
	defer func() { r.inventory = r.inventory.WithUIDs(uids) }()
	for i, at := range todo {
		if errs[i] == nil {
			r.applied[at], r.objects[at].Live, r.objects[at].Lost = true, nil, false
			results[i].Object = r.objects[at]
			r.note(results[i], outcomes[i], uids)
			continue
		}
		// It may exist nevertheless: the answer can have been lost.
		r.objects[at].Known, r.objects[at].Live = true, nil
		var terminating *apply.Terminating
		if errors.As(errs[i], &terminating) {
			r.ending.Await(r.objects[at].Mapping, terminating.Left)
			continue
		}
		r.missNamespace(r.objects[at].Object.GetNamespace(), errs[i])
		failures = append(failures, r.missed(at, errs[i])...)
	}
	return failures, nil
}

// maxSeen is what lists may have seen of the objects of one item, as an estimate of the memory. It is
// enough for a thousand usual objects; a cluster may make each of them larger.
const maxSeen = 32 << 20

// see looks at objects that probably exist: several of one kind and namespace with one
// list by our label. What has lost the label is looked at one by one.
func (r *Rollout) see(ctx context.Context, todo []int) error {
	type place struct{ resource, namespace string }
	known, places := map[place][]int{}, []place{}
	for _, at := range todo {
		if object := r.objects[at]; object.Known && object.Live == nil && object.Policy != deployer.IgnorePolicy {
			where := place{object.Mapping.Resource.String(), object.Object.GetNamespace()}
			if known[where] == nil {
				places = append(places, where)
			}
			known[where] = append(known[where], at)
		}
	}
	kept := int64(0)
	for _, where := range places {
		positions := known[where]
		if len(positions) < 2 {
			continue
		}
		// One request in the place of as many as there are objects; for a single one it
		// would be none less.
		live, err := r.cluster.List(ctx, r.objects[positions[0]].Mapping, where.namespace, labels.Set{r.desired.Owner.Label: r.desired.Owner.Item})
		if err != nil {
			return fmt.Errorf("list what is deployed: %w", err)
		}
		byName := make(map[string]*unstructured.Unstructured, len(live))
		for _, object := range live {
			byName[object.GetName()] = object
		}
		for _, at := range positions {
			found := byName[r.objects[at].Object.GetName()]
			if found == nil {
				continue
			}
			// Beyond that, an object is read again when its turn comes.
			if kept += answerlimit.SizeOf(found); kept <= maxSeen {
				r.objects[at].Live = found
			}
		}
	}
	return nil
}

// todo returns the objects of a stage that are not applied yet, and apart from them those
// that need another one first.
func (r *Rollout) todo(stage apply.Stage) (todo, later []int) {
	accounts := r.pendingAccounts()
	for i, object := range r.objects {
		switch {
		case object.Stage() != stage || r.applied[i]:
		case accounts[accountOf(object.Object)]:
			later = append(later, i)
		default:
			todo = append(todo, i)
		}
	}
	return todo, later
}

// note keeps what became of an object, and its UID.
func (r *Rollout) note(found result, outcome apply.Outcome, uids map[apply.Key]types.UID) {
	object := found.Object
	switch {
	case outcome.Foreign && outcome.Shared:
		// It stays recorded, so that the other item may leave it to this one. Its label says whose
		// it is until then.
	case outcome.Foreign:
		r.inventory = r.inventory.Without(object.Reference())
		found := Foreign{apply.Describe(object.Object.GetKind(), object.Object.GetNamespace(), object.Object.GetName()), outcome.Stored.GetLabels()[r.desired.Owner.Label]}
		if found.Owner != "" && !slices.Contains(r.foreign, found) {
			r.foreign = append(r.foreign, found)
		}
	case outcome.Stored != nil:
		uids[apply.KeyOf(object.Reference())] = outcome.Stored.GetUID()
		r.stored = append(r.stored, found)
	}
}

// account identifies a ServiceAccount.
type account struct{ namespace, name string }

// pendingAccounts are the ServiceAccounts of the item that are not applied yet.
func (r *Rollout) pendingAccounts() map[account]bool {
	pending := map[account]bool{}
	for i, object := range r.objects {
		if !r.applied[i] && object.Object.GroupVersionKind().GroupKind() == (schema.GroupKind{Kind: "ServiceAccount"}) {
			pending[account{object.Object.GetNamespace(), object.Object.GetName()}] = true
		}
	}
	return pending
}

// accountOf is the ServiceAccount that has to exist before an object. A Pod is refused
// without it, and kube-controller-manager deletes a Secret for the token of a ServiceAccount
// that does not exist.
func accountOf(object *unstructured.Unstructured) account {
	name := loss.TokenAccount(object)
	if object.GroupVersionKind().GroupKind() == (schema.GroupKind{Kind: "Pod"}) {
		name, _, _ = unstructured.NestedString(object.Object, "spec", "serviceAccountName")
	}
	return account{object.GetNamespace(), name}
}
