package apply

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
)

// predecessors are the field managers of upstream's deployers. Fields that they own are ours: an
// item that moves here keeps its objects.
var predecessors = []string{"manifest-deployer-controller", "helm-deployer-controller"}

// ours reports whether fields of a manager belong to us.
func ours(manager, owner string) bool {
	return manager == owner || slices.Contains(predecessors, manager)
}

// carryForeign keeps the labels and annotations that others have set. Those without another owner
// are removed with the manifest.
func carryForeign(live, object *unstructured.Unstructured, owner string) {
	for _, field := range []string{"labels", "annotations"} {
		present, _, _ := unstructured.NestedStringMap(live.Object, "metadata", field)
		wanted, _, _ := unstructured.NestedStringMap(object.Object, "metadata", field)
		for _, key := range foreignKeys(live, field, owner) {
			value, there := present[key]
			if _, own := wanted[key]; own || !there {
				continue
			}
			// The map exists, or is made; neither can fail on a decoded object.
			_ = unstructured.SetNestedField(object.Object, value, "metadata", field, key)
		}
	}
}

// foreignKeys returns the keys of a map in the metadata that others own.
func foreignKeys(live *unstructured.Unstructured, field, owner string) []string {
	var keys []string
	for _, entry := range live.GetManagedFields() {
		if ours(entry.Manager, owner) || entry.FieldsV1 == nil {
			continue
		}
		var fields struct {
			Metadata map[string]map[string]json.RawMessage `json:"f:metadata"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
			continue
		}
		for key := range fields.Metadata["f:"+field] {
			if name, ok := strings.CutPrefix(key, "f:"); ok {
				keys = append(keys, name)
			}
		}
	}
	return keys
}

// adopted returns an object whose fields that we or our predecessors have written in other ways
// count as applied by us, or nil without such fields. Otherwise a field that is dropped from the
// manifest would stay: it would have two owners.
func adopted(live *unstructured.Unstructured, owner string) *unstructured.Unstructured {
	writers := append([]string{owner}, predecessors...)
	written := slices.ContainsFunc(live.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == "" && slices.Contains(writers, entry.Manager)
	})
	if !written {
		return nil
	}
	object := live.DeepCopy()
	// A record that cannot be read is left as it is: the apply works all the same, and old
	// fields stay.
	if err := csaupgrade.UpgradeManagedFields(object, sets.New(writers...), owner); err != nil {
		return nil
	}
	return object
}
