// Package desired says which objects a parent wants: from an Installation and what its plan made to
// its Execution and the copies of its imports, from an Execution to its DeployItems and the object
// with their exports. Each function compares with what is there and makes no request, so that a
// preview of what a job would write gets the answer that the controllers act on.
package desired

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/number"
	"go.landscaper.dev/internal/runtime/job"
)

// Change says how to get from what is there to what is wanted.
type Change string

const (
	// None means that what is there is as it is wanted.
	None Change = "none"
	// Create means that nothing is there.
	Create Change = "create"
	// Update means that something else is there.
	Update Change = "update"
)

// dataLabels is what the labels begin with that say where a value comes from.
const dataLabels = "data." + v1alpha1.GroupName + "/"

// numbers compares JSON as it is meant.
var numbers = conversion.EqualitiesOrDie(number.Same)

// Same reports whether two objects are the same on the wire. It does not look at Go
// fields: types may keep what the wire does not show, and what cannot be compared.
//
// The API server stores our objects in another form: without empty fields, with numbers as it
// prints them. A comparison that sees these differences would write each object in each job.
func Same(a, b any) (bool, error) {
	first, err := json.Marshal(a)
	if err != nil {
		return false, fmt.Errorf("encode what is there: %w", err)
	}
	second, err := json.Marshal(b)
	if err != nil {
		return false, fmt.Errorf("encode what is desired: %w", err)
	}
	if bytes.Equal(first, second) {
		// Most jobs change nothing.
		return true, nil
	}
	before, err := jsonvalue.FromJSONWithNumbers(first)
	if err != nil {
		return false, err // says what was decoded
	}
	after, err := jsonvalue.FromJSONWithNumbers(second)
	if err != nil {
		return false, err // says what was decoded
	}
	return numbers.DeepEqual(before, after), nil
}

// compared returns what to do about an object that is there.
func compared(live, changed any) (Change, error) {
	same, err := Same(live, changed)
	if err != nil {
		return "", err
	}
	if same {
		return None, nil
	}
	return Update, nil
}

// mirror sets an annotation as it is on another object, or removes it.
func mirror(annotations, from map[string]string, key string) {
	if value, ok := from[key]; ok {
		annotations[key] = value
		return
	}
	delete(annotations, key)
}

// inherit copies an annotation from another object that has it; without one, the annotation that a
// user has set here stays.
func inherit(annotations, from map[string]string, key string) {
	if value, ok := from[key]; ok {
		annotations[key] = value
	}
}

// merged returns a map with the entries of both; those of the second win.
func merged(base, over map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, base)
	maps.Copy(all, over)
	return all
}

// takeMetadata gives an object the metadata of a wanted one. Additions of others stay, except for
// labels about the source of a value, and for owners of our kind, of which only one has written the
// object.
func takeMetadata(into, wanted metav1.Object, owner job.Owner) {
	labels := maps.Clone(into.GetLabels())
	maps.DeleteFunc(labels, func(name, _ string) bool { return strings.HasPrefix(name, dataLabels) })
	into.SetLabels(merged(labels, wanted.GetLabels()))
	into.SetAnnotations(merged(into.GetAnnotations(), wanted.GetAnnotations()))
	others := slices.DeleteFunc(slices.Clone(into.GetOwnerReferences()), owner.IsLike)
	into.SetOwnerReferences(append(others, wanted.GetOwnerReferences()...))
}

func controllerOf(owner metav1.Object, kind string) []metav1.OwnerReference {
	return []metav1.OwnerReference{*metav1.NewControllerRef(owner, v1alpha1.GroupVersion.WithKind(kind))}
}
