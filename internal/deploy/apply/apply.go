package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/model/ownership"
	"go.landscaper.dev/internal/runtime/job/published"
)

type ownerReference = metav1.OwnerReference

// attempts is how often an object is read again because another client changed it at the same time.
const attempts = 4

const applyObjects = published.ApplyObjects

// Applier applies objects for an item.
type Applier struct {
	// Target is the cluster.
	Target target.Cluster
	// Strategy says how objects that exist are changed.
	Strategy deployer.UpdateStrategy
	// Labels are put on each object.
	Labels map[string]string
	// OwnerLabel is the label that says whose an object is.
	OwnerLabel string
	// FieldManager is the name under which fields are owned.
	FieldManager string
	// LookOnly is set for objects that another client writes: they are only read.
	LookOnly bool
	// Marked, if it is set, is what is created in the place of such an object that was lost.
	Marked func(object *unstructured.Unstructured) *unstructured.Unstructured
	// Neighbors are the other items that may be the owners of objects; nil if none is consulted.
	Neighbors Neighbors
}

// Neighbors are the other items of a namespace.
type Neighbors interface {
	// Yields reports whether an object with the label of another item, the holder, may be taken over.
	Yields(ctx context.Context, holder string, object corev1.ObjectReference) (bool, error)
	// IsNeighbor reports whether an item exists and has the same cluster.
	IsNeighbor(ctx context.Context, name string) (bool, error)
}

// Missing says that an object does not exist although it was deployed.
type Missing struct{ name string }

// Error implements error.
func (m *Missing) Error() string { return m.name + " does not exist any more" }

// Outcome is what became of an object.
type Outcome struct {
	// Stored is the object as it is on the cluster, or nil if it was left alone
	// unseen.
	Stored *unstructured.Unstructured
	// Foreign says that the object belongs to another owner and was left alone.
	Foreign bool
	// Shared says that it belongs to an item that may leave it to this one later.
	Shared bool
}

// Apply makes an object what its manifest says. An object that is not known to exist is created
// without a read; that costs one request.
//
// If it exists after all, the create is answered with AlreadyExists, and the next round
// looks: see raced.
func (a *Applier) Apply(ctx context.Context, object Object) (Outcome, error) {
	if object.Policy == deployer.IgnorePolicy {
		return Outcome{}, nil
	}
	if a.LookOnly {
		return a.lookAt(ctx, object)
	}
	manifest := a.manifest(object)
	for attempt := 1; ; attempt++ {
		outcome, err := a.applyOnce(ctx, object, manifest, attempt == 1)
		if err == nil || !raced(err) || attempt == attempts {
			return outcome, a.explain(ctx, object, err)
		}
	}
}

// lookAt reads an object that another client writes. An object that was lost is created.
func (a *Applier) lookAt(ctx context.Context, object Object) (Outcome, error) {
	live, err := a.live(ctx, object, object.Object)
	if err == nil && live == nil && object.Lost && a.Marked != nil {
		stored, err := a.Target.Create(ctx, object.Mapping, a.Marked(object.Object), a.FieldManager)
		return Outcome{Stored: stored}, a.explain(ctx, object, err)
	}
	if err == nil && live == nil {
		err = &Missing{Describe(object.Object.GetKind(), object.Object.GetNamespace(), object.Object.GetName())}
	}
	return Outcome{Stored: live}, err
}

// raced reports whether another client changed the object first. A conflict about the owner of a
// field is not a race: reading again does not help.
func raced(err error) bool {
	return (apierrors.IsConflict(err) && len(fieldOwners(err)) == 0) || apierrors.IsAlreadyExists(err)
}

func (a *Applier) applyOnce(ctx context.Context, object Object, manifest *unstructured.Unstructured, first bool) (Outcome, error) {
	live, err := a.look(ctx, object, manifest, first)
	if err != nil {
		return Outcome{}, err
	}
	if live == nil {
		return a.create(ctx, object, manifest)
	}
	return a.change(ctx, object, live, manifest)
}

// look returns the object as it is, or nil if it does not exist or need not be
// looked at.
func (a *Applier) look(ctx context.Context, object Object, manifest *unstructured.Unstructured, first bool) (*unstructured.Unstructured, error) {
	if first && object.Live != nil {
		return object.Live, nil
	}
	// A create fails on an object that exists; an apply does not, so whatever depends
	// on that has to be known before.
	mustKnow := a.serverSide() && (object.Policy == deployer.ImmutablePolicy || object.Policy == deployer.FallbackPolicy || len(object.AnnotateBeforeCreate) > 0)
	if first && !object.Known && !mustKnow {
		return nil, nil
	}
	live, err := a.Target.Get(ctx, object.Mapping, manifest.GetNamespace(), manifest.GetName())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

func (a *Applier) serverSide() bool { return a.Strategy == deployer.UpdateStrategyApply }

func (a *Applier) create(ctx context.Context, object Object, manifest *unstructured.Unstructured) (Outcome, error) {
	if len(object.AnnotateBeforeCreate) > 0 {
		manifest = withAnnotations(manifest, object.AnnotateBeforeCreate)
	}
	if a.serverSide() {
		return a.applied(ctx, object, manifest)
	}
	stored, err := a.Target.Create(ctx, object.Mapping, manifest, a.FieldManager)
	return Outcome{Stored: stored}, err
}

// applied lets the API server merge.
func (a *Applier) applied(ctx context.Context, object Object, manifest *unstructured.Unstructured) (Outcome, error) {
	stored, err := a.Target.Apply(ctx, object.Mapping, manifest, cluster.ApplyOptions{Owner: a.FieldManager, Force: !object.FailOnConflict})
	if err == nil && stored.GetDeletionTimestamp() != nil {
		return Outcome{}, &Terminating{Left: stored}
	}
	if err == nil {
		// The API server merges: what others have set stays.
		stored, err = a.unmark(ctx, object, stored)
	}
	return Outcome{Stored: stored}, err
}

// treatment is what happens to an object that exists.
type treatment string

const (
	// leave means that the object is not changed.
	leave treatment = "leave"
	// leaveForeign means the same for an object of another owner.
	leaveForeign treatment = "leave foreign"
	// await means that the deletion of the object has to end first.
	await treatment = "await"
	// reclaim means that only the mark is removed that says that the item does not want the object.
	reclaim treatment = "reclaim"
	// write means that the object is changed.
	write treatment = "write"
)

// treat decides what happens to an object that exists; desired is what it should
// become, or nil if only the API server knows.
//
// An object that is being deleted is awaited whatever its policy is: nothing that is
// written to it would stay.
func treat(policy deployer.ManifestPolicy, owned bool, live, desired *unstructured.Unstructured) treatment {
	switch {
	case live.GetDeletionTimestamp() != nil:
		return await
	case policy == deployer.ImmutablePolicy && owned && ownership.IsReleased(live):
		return reclaim
	case policy == deployer.ImmutablePolicy:
		return leave
	case policy == deployer.FallbackPolicy && !owned:
		return leaveForeign
	case desired != nil && Equal(live, desired):
		return leave
	}
	return write
}

// change deals with an object that exists.
func (a *Applier) change(ctx context.Context, object Object, live, manifest *unstructured.Unstructured) (Outcome, error) {
	owned, err := a.owns(ctx, object, live)
	if err != nil {
		return Outcome{}, err
	}
	desired := a.desired(object, live, manifest)
	switch treat(object.Policy, owned, live, desired) {
	case await:
		return Outcome{}, &Terminating{Left: live}
	case reclaim:
		stored, err := a.unmark(ctx, object, live)
		return Outcome{Stored: stored}, err
	case leave:
		return Outcome{Stored: live}, nil
	case leaveForeign:
		shared, err := a.shares(ctx, live)
		return Outcome{Stored: live, Foreign: true, Shared: shared}, err
	}
	outcome, err := a.write(ctx, object, live, desired, manifest)
	if apierrors.IsInvalid(err) && object.Recreate {
		return a.recreate(ctx, object, live, manifest, err)
	}
	return outcome, err
}

// write changes an object that exists.
func (a *Applier) write(ctx context.Context, object Object, live, desired, manifest *unstructured.Unstructured) (Outcome, error) {
	switch a.Strategy {
	case deployer.UpdateStrategyApply:
		// Seldom: for what we have written as an update before, such as under another
		// strategy, or with a patch after the deployment.
		if upgraded := adopted(live, a.FieldManager); upgraded != nil {
			if _, err := a.Target.Update(ctx, object.Mapping, upgraded, a.FieldManager); err != nil {
				return Outcome{}, err
			}
		}
		return a.applied(ctx, object, withoutIgnored(manifest, object.Ignored))
	case deployer.UpdateStrategyPatch:
		stored, err := a.patch(ctx, object, live, desired)
		return Outcome{Stored: stored}, err
	}
	stored, err := a.Target.Update(ctx, object.Mapping, desired, a.FieldManager)
	return Outcome{Stored: stored}, err
}

// withoutIgnored returns a manifest without the fields that may differ.
func withoutIgnored(manifest *unstructured.Unstructured, ignored []Pointer) *unstructured.Unstructured {
	manifest = manifest.DeepCopy()
	for _, pointer := range ignored {
		pointer.remove(manifest.Object)
	}
	return manifest
}

// recreate deletes an object that cannot be changed, so that it can be created
// again. It does so only if the API server would take the new one: an object must not
// be lost because of a manifest that is wrong.
//
// A crash between the deletion and the creation leaves no object, but it is recorded: the
// next attempt creates it. The trial has another name, because a dry run for the same one
// would be refused like the change.
func (a *Applier) recreate(ctx context.Context, object Object, live, manifest *unstructured.Unstructured, refused error) (Outcome, error) {
	if _, err := a.try(ctx, object, manifest); err != nil {
		return Outcome{}, refused
	}
	uid, background := live.GetUID(), metav1.DeletePropagationBackground
	left, err := a.Target.Delete(ctx, object.Mapping, live.GetNamespace(), live.GetName(), metav1.DeleteOptions{
		PropagationPolicy: &background, Preconditions: &metav1.Preconditions{UID: &uid},
	})
	if err != nil {
		return Outcome{}, err
	}
	if left != nil {
		return Outcome{}, &Terminating{Left: left}
	}
	return a.create(ctx, object, manifest)
}

// try asks the API server whether it would take a new object, and returns what it would
// store.
func (a *Applier) try(ctx context.Context, object Object, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	trial := manifest.DeepCopy()
	trial.SetName(trialName(manifest.GetName()))
	return a.Target.Apply(ctx, object.Mapping, trial, cluster.ApplyOptions{Owner: a.FieldManager, Force: true, DryRun: true})
}

// trialName is a name that nothing has.
func trialName(name string) string {
	const suffix = "-trial-"
	return strings.TrimRight(name[:min(len(name), 40)], ".-") + suffix + rand.String(8)
}

// desired is what an object should become, or nil if only the API server knows.
func (a *Applier) desired(object Object, live, manifest *unstructured.Unstructured) *unstructured.Unstructured {
	if a.serverSide() {
		return nil
	}
	present := ownership.Stripped(live, a.ours, false)
	var desired *unstructured.Unstructured
	switch a.Strategy {
	case deployer.UpdateStrategyMerge, deployer.UpdateStrategyMergeOverwrite:
		desired = withLabels(merged(present, manifest, a.Strategy == deployer.UpdateStrategyMergeOverwrite), a.Labels)
	default:
		desired = replacement(present, manifest, a.FieldManager)
	}
	for _, pointer := range object.Ignored {
		pointer.carry(present.DeepCopy().Object, desired.Object)
	}
	return desired
}

// patch sends the difference only.
func (a *Applier) patch(ctx context.Context, object Object, live, desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	before, err := json.Marshal(live.Object)
	if err != nil {
		return nil, fmt.Errorf("encode the live object: %w", err)
	}
	after, err := json.Marshal(desired.Object)
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	difference, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil {
		return nil, fmt.Errorf("compare the live object with its manifest: %w", err)
	}
	return a.Target.MergePatch(ctx, object.Mapping, live.GetNamespace(), live.GetName(), difference, a.FieldManager)
}

// Terminating says that an object is being deleted, so that a change would be lost with it. The
// object has to be created again afterwards.
type Terminating struct {
	// Left is what is left of the object.
	Left *unstructured.Unstructured
}

// Error implements error.
func (t *Terminating) Error() string {
	return "it is being deleted; it will be created again afterwards"
}

// Describe names an object.
func Describe(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}
