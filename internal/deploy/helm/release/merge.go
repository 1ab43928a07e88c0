package release

import (
	"encoding/json"
	"errors"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"
)

// errMerge takes the place of what the libraries say, who quote the objects.
var errMerge = errors.New("what the chart says cannot be merged into the object: look for a list with an entry that has no name, or that is there twice")

// changed returns the live object with the changes from the manifest of the revision
// before to the new one. What others have set stays where neither says anything, as
// with Helm; lists of kinds that Kubernetes itself knows are merged by their keys.
func changed(original, wanted, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if original == nil || original.GetAPIVersion() != wanted.GetAPIVersion() {
		// There is nothing to remove.
		original = wanted
	}
	before, err1 := json.Marshal(original.Object)
	after, err2 := json.Marshal(wanted.Object)
	now, err3 := json.Marshal(live.Object)
	if errors.Join(err1, err2, err3) != nil {
		return nil, errMerge
	}
	merged, err := merge(before, after, now, wanted)
	if err != nil {
		return nil, errMerge
	}
	var content map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(merged, &content); err != nil {
		return nil, errMerge
	}
	return &unstructured.Unstructured{Object: content}, nil
}

func merge(before, after, now []byte, wanted *unstructured.Unstructured) ([]byte, error) {
	typed, err := scheme.Scheme.New(wanted.GroupVersionKind())
	if err != nil {
		// It is not one of the kinds that Kubernetes itself has.
		patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(before, after, now)
		if err != nil {
			return nil, err
		}
		return jsonpatch.MergePatch(now, patch)
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(typed)
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(before, after, now, meta, true)
	if err != nil {
		return nil, err
	}
	return strategicpatch.StrategicMergePatch(now, patch, typed)
}
