package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/job"
)

type ownerReference = metav1.OwnerReference

// attempts is how often an object is looked at again because somebody else
// changed it in the same moment.
const attempts = 4

const applyObjects, applyNewObject = "ApplyObjects", "ApplyNewObject"

// Applier applies objects for an item.
type Applier struct {
	// Target is the cluster.
	Target *cluster.Connection
	// Strategy says how objects that exist are changed.
	Strategy deployer.UpdateStrategy
	// Labels are put on each object.
	Labels map[string]string
	// OwnerLabel is the label that says whose an object is.
	OwnerLabel string
	// FieldManager is the name under which fields are owned.
	FieldManager string
}

// Outcome is what became of an object.
type Outcome struct {
	// Stored is the object as it is on the cluster, or nil if it was left alone
	// unseen.
	Stored *unstructured.Unstructured
	// Foreign says that the object belongs to somebody else and was left alone.
	Foreign bool
}

// Apply makes an object what its manifest says. An object that is not known to
// exist is created without a look; that costs one request.
func (a *Applier) Apply(ctx context.Context, object Object) (Outcome, error) {
	if object.Policy == deployer.IgnorePolicy {
		return Outcome{}, nil
	}
	manifest := withLabels(object.Object, a.Labels)
	create := !object.Known
	for attempt := 1; ; attempt++ {
		outcome, err := a.applyOnce(ctx, object, manifest, create)
		raced := apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err)
		if err == nil || !raced || attempt == attempts {
			return outcome, explain(object, err)
		}
		create = false
	}
}

func (a *Applier) applyOnce(ctx context.Context, object Object, manifest *unstructured.Unstructured, create bool) (Outcome, error) {
	if !create {
		live, err := a.Target.Get(ctx, object.Mapping, manifest.GetNamespace(), manifest.GetName())
		if err == nil {
			return a.change(ctx, object, live, manifest)
		}
		if !apierrors.IsNotFound(err) {
			return Outcome{}, err
		}
	}
	stored, err := a.Target.Create(ctx, object.Mapping, manifest, a.FieldManager)
	return Outcome{Stored: stored}, err
}

// change deals with an object that exists.
func (a *Applier) change(ctx context.Context, object Object, live, manifest *unstructured.Unstructured) (Outcome, error) {
	if live.GetDeletionTimestamp() != nil {
		return Outcome{}, &Terminating{Left: live}
	}
	switch object.Policy {
	case deployer.ImmutablePolicy:
		return Outcome{Stored: live}, nil
	case deployer.FallbackPolicy:
		if live.GetLabels()[a.OwnerLabel] != a.Labels[a.OwnerLabel] {
			return Outcome{Stored: live, Foreign: true}, nil
		}
	}
	desired := a.desired(live, manifest)
	if apiequality.Semantic.DeepEqual(live.Object, desired.Object) {
		return Outcome{Stored: live}, nil
	}
	var stored *unstructured.Unstructured
	var err error
	if a.Strategy == deployer.UpdateStrategyPatch {
		stored, err = a.patch(ctx, object, live, desired)
	} else {
		stored, err = a.Target.Update(ctx, object.Mapping, desired, a.FieldManager)
	}
	return Outcome{Stored: stored}, err
}

func (a *Applier) desired(live, manifest *unstructured.Unstructured) *unstructured.Unstructured {
	switch a.Strategy {
	case deployer.UpdateStrategyMerge, deployer.UpdateStrategyMergeOverwrite:
		return withLabels(merged(live, manifest, a.Strategy == deployer.UpdateStrategyMergeOverwrite), a.Labels)
	}
	return replacement(live, manifest)
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

// Terminating says that an object is being deleted, so that a change would be lost
// with it. It has to be created again once it is gone.
type Terminating struct {
	// Left is what is left of the object.
	Left *unstructured.Unstructured
}

// Error implements error.
func (t *Terminating) Error() string {
	return "it is being deleted; it will be created again once it is gone"
}

// explain says which object an error is about.
func explain(object Object, err error) error {
	if err == nil {
		return nil
	}
	doing := "apply " + Describe(object.Object.GetKind(), object.Object.GetNamespace(), object.Object.GetName())
	if object.Mapping.Resource.Group == "" && object.Mapping.Resource.Resource == "secrets" {
		err = withoutValues(err)
	}
	return job.Wrap(err, applyObjects, applyNewObject, doing)
}

// withoutValues takes the values out of what an API server says about a Secret.
func withoutValues(err error) error {
	if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		return err
	}
	var status apierrors.APIStatus
	fields := ""
	if errors.As(err, &status) && status.Status().Details != nil {
		for _, cause := range status.Status().Details.Causes {
			fields += " " + cause.Field
		}
	}
	return job.NewError(applyObjects, applyNewObject, "the API server refuses it; its answer is not shown because it may hold a secret value. Check these fields:"+orNone(fields), v1alpha1.ErrorForInfoOnly)
}

func orNone(fields string) string {
	if fields == "" {
		return " data, stringData and type"
	}
	return fields
}

// Describe names an object.
func Describe(kind, namespace, name string) string {
	if namespace == "" {
		return kind + " " + name
	}
	return kind + " " + namespace + "/" + name
}
