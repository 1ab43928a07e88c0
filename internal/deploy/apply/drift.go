package apply

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/ownership"
)

// Compare returns what another deployment would change about an object, in one line, or
// "" if that is nothing. It changes nothing itself. The line names fields, never values.
func (a *Applier) Compare(ctx context.Context, object Object) (string, error) {
	predicted, err := a.Predict(ctx, object)
	if err != nil {
		return "", err
	}
	name := Describe(object.Object.GetKind(), object.Object.GetNamespace(), object.Object.GetName())
	switch {
	case predicted.After == nil:
		return "", nil
	case predicted.Live == nil:
		return name + " (it does not exist)", nil
	case predicted.Live.GetDeletionTimestamp() != nil:
		return name + " (it is being deleted)", nil
	}
	fields := differences(contentOf(predicted.Live), contentOf(predicted.After))
	if len(fields) == 0 {
		return "", nil
	}
	return name + " (" + listOf(fields) + ")", nil
}

// Prediction is what another deployment would make of an object.
type Prediction struct {
	// Live is the object as it is, or nil.
	Live *unstructured.Unstructured
	// After is what it becomes, or nil if it is left alone. Of one that does not exist it
	// is the manifest.
	After *unstructured.Unstructured
	// Applied is what it is before a patch after the deployment; nil if it is left alone.
	Applied *unstructured.Unstructured
	// Replaced says that it is deleted and created again.
	Replaced bool
}

// Predict returns what another deployment would make of an object. It changes nothing.
func (a *Applier) Predict(ctx context.Context, object Object) (Prediction, error) {
	if object.Policy == deployer.IgnorePolicy {
		return Prediction{}, nil
	}
	manifest := a.manifest(object)
	name := Describe(manifest.GetKind(), manifest.GetNamespace(), manifest.GetName())
	live, err := a.live(ctx, object, manifest)
	if err != nil {
		return Prediction{}, fmt.Errorf("compare %s: %w", name, err)
	}
	if live == nil {
		return a.PredictNew(object), nil
	}
	owned, err := a.owns(ctx, object, live)
	if err != nil {
		return Prediction{}, fmt.Errorf("compare %s: %w", name, err)
	}
	desired, predicted := a.desired(object, live, manifest), live
	switch treatment := treat(object.Policy, owned, live, desired); {
	case treatment == await:
		return Prediction{Live: live, After: a.patched(object, manifest), Applied: manifest, Replaced: true}, nil
	case treatment == leaveForeign, treatment == leave && object.Policy == deployer.ImmutablePolicy:
		return Prediction{Live: live}, nil
	case treatment == reclaim:
		predicted = ownership.Stripped(live, a.ours, false)
	case treatment == write:
		predicted, err = a.predict(ctx, object, desired, manifest)
		if apierrors.IsInvalid(err) && object.Recreate {
			return a.predictRecreation(ctx, object, live, manifest, err)
		}
		if err != nil {
			return Prediction{}, fmt.Errorf("compare %s: %w", name, a.explain(ctx, object, err))
		}
		predicted = ownership.Stripped(predicted, a.ours, false)
	}
	return Prediction{Live: live, After: a.afterwards(object, live, predicted), Applied: predicted}, nil
}

// PredictNew returns what another deployment would make of an object that does not exist.
func (a *Applier) PredictNew(object Object) Prediction {
	manifest := a.manifest(object)
	if len(object.AnnotateBeforeCreate) > 0 {
		manifest = withAnnotations(manifest, object.AnnotateBeforeCreate)
	}
	return Prediction{After: a.patched(object, manifest), Applied: manifest}
}

// live returns the object as it is, or nil if it does not exist.
func (a *Applier) live(ctx context.Context, object Object, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if object.Live != nil {
		return object.Live, nil
	}
	live, err := a.Target.Get(ctx, object.Mapping, manifest.GetNamespace(), manifest.GetName())
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

// predict asks the API server what would be stored: it fills in defaults, and only it
// knows how fields of several owners merge.
func (a *Applier) predict(ctx context.Context, object Object, desired, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if !a.serverSide() {
		return a.Target.Preview(ctx, object.Mapping, desired, a.FieldManager)
	}
	return a.Target.Apply(ctx, object.Mapping, withoutIgnored(manifest, object.Ignored), cluster.ApplyOptions{Owner: a.FieldManager, Force: true, DryRun: true})
}

// predictRecreation asks the API server whether it would take the new object, as a
// roll-out does before it deletes the present one.
func (a *Applier) predictRecreation(ctx context.Context, object Object, live, manifest *unstructured.Unstructured, refused error) (Prediction, error) {
	if len(object.AnnotateBeforeCreate) > 0 {
		manifest = withAnnotations(manifest, object.AnnotateBeforeCreate)
	}
	stored, err := a.try(ctx, object, manifest)
	if err != nil {
		name := Describe(manifest.GetKind(), manifest.GetNamespace(), manifest.GetName())
		return Prediction{}, fmt.Errorf("compare %s: %w", name, a.explain(ctx, object, refused))
	}
	stored.SetName(manifest.GetName())
	return Prediction{Live: live, After: a.patched(object, stored), Applied: manifest, Replaced: true}, nil
}

// patched adds the patch that follows when everything is ready.
func (a *Applier) patched(object Object, predicted *unstructured.Unstructured) *unstructured.Unstructured {
	if len(object.PatchAfterDeployment) == 0 {
		return predicted
	}
	return Merge(predicted, object.PatchAfterDeployment)
}

// afterwards adds what happens to an object besides: a patch when everything is ready belongs to
// it, and what was set for its creation only does not count.
func (a *Applier) afterwards(object Object, live, predicted *unstructured.Unstructured) *unstructured.Unstructured {
	kept := map[string]string{}
	for key := range object.AnnotateBeforeCreate {
		if value, there := live.GetAnnotations()[key]; there {
			kept[key] = value
		}
	}
	if len(kept) > 0 {
		predicted = withAnnotations(predicted, kept)
	}
	return a.patched(object, predicted)
}

// contentOf leaves out what changes with each write, and what controllers report.
func contentOf(object *unstructured.Unstructured) map[string]any {
	content := object.DeepCopy().Object
	delete(content, "status")
	for _, field := range systemFields {
		unstructured.RemoveNestedField(content, "metadata", field)
	}
	return content
}

// differences returns the paths of all fields that differ, sorted.
func differences(a, b map[string]any) []string {
	var paths []string
	for _, field := range diff.Fields(a, b) {
		paths = append(paths, field.Path)
	}
	return paths
}

// listOf names the first of some fields.
func listOf(fields []string) string {
	const most = 5
	if len(fields) > most {
		return fmt.Sprintf("%s and %d more fields", strings.Join(fields[:most], ", "), len(fields)-most)
	}
	return strings.Join(fields, ", ")
}
