package fleet

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/internal/model/fleet"
)

// maxRevisions is how many revisions of a Fleet are kept.
const maxRevisions = 10

// revisions reads all revisions of the Fleet, stores the one that is to be rolled out, and deletes the
// oldest ones. It is done once for each new revision, and once after a restart.
func (a *attempt) revisions(ctx context.Context) error {
	list := &appsv1.ControllerRevisionList{}
	label := client.MatchingLabels{fleetv1alpha1.FleetLabel: fleet.LabelValue(a.fleet.Name)}
	if err := a.r.Reader.List(ctx, list, client.InNamespace(a.key.Namespace), label); err != nil {
		return fmt.Errorf("list the revisions: %w", err)
	}
	known, newest := map[string]fleet.Content{}, int64(0)
	own := list.Items[:0]
	for _, one := range list.Items {
		if !metav1.IsControlledBy(&one, a.fleet) {
			continue
		}
		content, err := fleet.Decode(one.Data.Raw)
		if name, hashErr := content.Revision(a.fleet.Name); err != nil || hashErr != nil || name != one.Name {
			// Another client has changed it. What it says now was never rolled out.
			continue
		}
		own, newest = append(own, one), max(newest, one.Revision)
		known[one.Name] = content
	}
	if a.out.Store != nil {
		name, err := a.out.Store.Revision(a.fleet.Name)
		if err != nil {
			return fmt.Errorf("name the revision: %w", err)
		}
		if _, stored := known[name]; !stored {
			if err := a.store(ctx, name, newest+1); err != nil {
				return err
			}
			known[name] = *a.out.Store
		}
	}
	a.known.contents, a.known.listed = known, true
	a.seen.Contents, a.seen.Listed = known, true
	return a.prune(ctx, own)
}

func (a *attempt) store(ctx context.Context, name string, number int64) error {
	raw, err := a.out.Store.Encode()
	if err != nil {
		return fmt.Errorf("encode the revision: %w", err)
	}
	made := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: a.key.Namespace, Name: name, Labels: map[string]string{fleetv1alpha1.FleetLabel: fleet.LabelValue(a.fleet.Name)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(a.fleet, fleetv1alpha1.GroupVersion.WithKind("Fleet"))},
		},
		Data: runtime.RawExtension{Raw: raw}, Revision: number,
	}
	// The owner must not wait for its revisions: that would need a right on its finalizers.
	made.OwnerReferences[0].BlockOwnerDeletion = nil
	err = a.r.Client.Create(ctx, made)
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("ControllerRevision %s exists, and is not one of this Fleet: delete it: %w", name, err)
	}
	if err != nil {
		return fmt.Errorf("store the revision: %w", err)
	}
	return nil
}

// prune deletes the oldest revisions, except those that the Fleet needs.
func (a *attempt) prune(ctx context.Context, own []appsv1.ControllerRevision) error {
	slices.SortFunc(own, func(x, y appsv1.ControllerRevision) int { return cmp.Compare(y.Revision, x.Revision) })
	status := &a.fleet.Status
	for i := maxRevisions; i < len(own); i++ {
		if one := &own[i]; one.Name != status.Revision && one.Name != status.LastRevision {
			if err := a.r.Client.Delete(ctx, one); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("delete the old revision %s: %w", one.Name, err)
			}
		}
	}
	return nil
}
