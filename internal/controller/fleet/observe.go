package fleet

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/fleet"
	"go.landscaper.dev/internal/runtime/job"
)

// Observe implements engine.Attempt.
func (a *attempt) Observe(ctx context.Context) (job.Wake, error) {
	r, found := a.r, &fleetv1alpha1.Fleet{}
	if err := r.Cache.Get(ctx, a.key, found); err != nil {
		return job.Deleted(), client.IgnoreNotFound(err)
	}
	a.fleet, a.uid, a.known = found, found.UID, r.known.Of(found.UID)
	if err := a.known.written.Await(ctx, r.Reader, found); err != nil {
		return job.Wake{}, err // the engine knows what follows
	}
	return job.Continues(), a.observe(ctx)
}

// observe reads what the decision depends on, from caches.
func (a *attempt) observe(ctx context.Context) error {
	r, in := a.r, client.InNamespace(a.key.Namespace)
	if a.known.contents == nil {
		a.known.contents = map[string]fleet.Content{}
	}
	seen := &fleet.Observation{Fleet: a.fleet, Fleets: map[types.UID]string{}, Contents: a.known.contents, Listed: a.known.listed}
	targets := &v1alpha1.TargetList{}
	if err := r.Cache.List(ctx, targets, in, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list Targets: %w", err)
	}
	for i := range targets.Items {
		seen.Targets = append(seen.Targets, &targets.Items[i])
	}
	insts := &v1alpha1.InstallationList{}
	if err := r.Cache.List(ctx, insts, in, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list Installations: %w", err)
	}
	for i := range insts.Items {
		seen.Installations = append(seen.Installations, &insts.Items[i])
	}
	seen.Installations = a.known.newest(seen.Installations, r.Now())
	a.known.forgetOthers(seen.Installations, seen.Targets)
	seen.Made = a.known.made
	fleets := &fleetv1alpha1.FleetList{}
	if err := r.Cache.List(ctx, fleets, in, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list Fleets: %w", err)
	}
	for i := range fleets.Items {
		seen.Fleets[fleets.Items[i].UID] = fleets.Items[i].Name
	}
	seen.Exists = func(name string) bool {
		return r.Cache.Get(ctx, client.ObjectKey{Namespace: a.key.Namespace, Name: name}, &v1alpha1.DataObject{}, client.UnsafeDisableDeepCopy) == nil
	}
	seen.Managed = func(inst *v1alpha1.Installation) string { return a.managed(ctx, inst) }
	seen.SpecDigest = func(inst *v1alpha1.Installation) (string, error) {
		return note(&a.known.digests, inst, func() (string, error) { return fleet.SpecDigest(&inst.Spec) })
	}
	if a.seen != nil {
		seen.Verdicts = a.seen.Verdicts
	}
	a.seen = seen
	return a.find(ctx)
}

// find reads the version of the Channel.
func (a *attempt) find(ctx context.Context) error {
	version := a.fleet.Spec.Version
	if version == nil || version.Channel == "" {
		return nil
	}
	channel := &fleetv1alpha1.Channel{}
	err := a.r.Cache.Get(ctx, client.ObjectKey{Namespace: a.key.Namespace, Name: version.Channel}, channel)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read Channel %s: %w", version.Channel, err)
	}
	component := a.fleet.Spec.Template.Spec.ComponentDescriptor
	switch {
	case err != nil:
		a.seen.NotFound = "Channel " + version.Channel + " does not exist"
	case component != nil && component.Reference != nil && component.Reference.ComponentName != channel.Spec.Component:
		a.seen.NotFound = fmt.Sprintf("Channel %s is of component %s, and the template of %s", version.Channel, channel.Spec.Component, component.Reference.ComponentName)
	case channel.Status.Version == "":
		a.seen.NotFound = "Channel " + version.Channel + " has no version"
	}
	a.seen.Found = channel.Status.Version
	return nil
}

// managedByLabel is the label by which tools say that they manage an object.
const managedByLabel = "app.kubernetes.io/managed-by"

// managed says who else writes an Installation. Caches do not have that, so that the API server is asked,
// once for each generation of one that a Fleet would adopt.
func (a *attempt) managed(ctx context.Context, inst *v1alpha1.Installation) string {
	said, err := note(&a.known.managers, inst, func() (string, error) {
		live := &v1alpha1.Installation{}
		if err := a.r.Reader.Get(ctx, client.ObjectKeyFromObject(inst), live); err != nil {
			return "", err // the caller says what was read
		}
		return managerOf(live), nil
	})
	if err != nil {
		log.FromContext(ctx).Error(err, "read who manages an Installation", "installation", inst.Name)
		return "it is not known who manages Installation " + inst.Name
	}
	return said
}

// managerOf says which tool would write a specification again after a Fleet.
func managerOf(inst *v1alpha1.Installation) string {
	if tool := inst.Labels[managedByLabel]; tool != "" {
		return "Installation " + inst.Name + " is managed by " + tool
	}
	for _, entry := range inst.ManagedFields {
		if entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" && entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"f:spec"`) {
			return "Installation " + inst.Name + " is applied by " + entry.Manager
		}
	}
	return ""
}
