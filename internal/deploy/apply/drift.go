package apply

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/cluster"
)

// Compare returns what another deployment would change about an object, in one line, or
// "" if that is nothing. It changes nothing itself. The line names fields, never values.
func (a *Applier) Compare(ctx context.Context, object Object) (string, error) {
	if object.Policy == deployer.IgnorePolicy {
		return "", nil
	}
	manifest := withLabels(object.Object, a.Labels)
	name := Describe(manifest.GetKind(), manifest.GetNamespace(), manifest.GetName())
	live, err := a.live(ctx, object, manifest)
	if err != nil {
		return "", fmt.Errorf("compare %s: %w", name, err)
	}
	if live == nil {
		return name + " (it does not exist)", nil
	}
	desired, predicted := a.desired(object, live, manifest), live
	switch treatment := treat(object.Policy, live.GetLabels()[a.OwnerLabel] == a.Labels[a.OwnerLabel], live, desired); {
	case treatment == await:
		return name + " (somebody deletes it)", nil
	case treatment == leaveForeign, treatment == leave && object.Policy == deployer.ImmutablePolicy:
		return "", nil
	case treatment == write:
		if predicted, err = a.predict(ctx, object, desired, manifest); err != nil {
			return "", fmt.Errorf("compare %s: %w", name, a.explain(ctx, object, err))
		}
	}
	fields := differences("", contentOf(live), contentOf(a.afterwards(object, live, predicted)))
	if len(fields) == 0 {
		return "", nil
	}
	return name + " (" + listOf(fields) + ")", nil
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

// afterwards adds what happens to an object besides: a patch when everything is ready
// belongs to it, and what was set for its creation only is no news.
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
	if len(object.PatchAfterDeployment) > 0 {
		predicted = Merge(predicted, object.PatchAfterDeployment)
	}
	return predicted
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
func differences(path string, a, b any) []string {
	first, isMap := a.(map[string]any)
	second, areMaps := b.(map[string]any)
	if isMap && areMaps {
		var fields []string
		for key := range first {
			fields = append(fields, differences(join(path, key), first[key], second[key])...)
		}
		for key := range second {
			if _, both := first[key]; !both {
				fields = append(fields, differences(join(path, key), nil, second[key])...)
			}
		}
		slices.Sort(fields)
		return fields
	}
	left, isList := a.([]any)
	right, areLists := b.([]any)
	if isList && areLists && len(left) == len(right) {
		var fields []string
		for i := range left {
			fields = append(fields, differences(fmt.Sprintf("%s[%d]", path, i), left[i], right[i])...)
		}
		return fields
	}
	if reflect.DeepEqual(a, b) || (nothing(a) && nothing(b)) {
		return nil
	}
	return []string{path}
}

func join(path, key string) string {
	if strings.ContainsAny(key, "./") {
		return path + "['" + key + "']"
	}
	return strings.TrimPrefix(path+"."+key, ".")
}

// nothing reports whether a value is as good as none: API servers leave out what is
// empty.
func nothing(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		return len(value) == 0
	case []any:
		return len(value) == 0
	}
	return false
}

// listOf names the first of some fields.
func listOf(fields []string) string {
	const most = 5
	if len(fields) > most {
		return fmt.Sprintf("%s and %d more fields", strings.Join(fields[:most], ", "), len(fields)-most)
	}
	return strings.Join(fields, ", ")
}
