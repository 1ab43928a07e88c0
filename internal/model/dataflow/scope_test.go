package dataflow

import (
	"slices"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

func TestScopeValues(t *testing.T) {
	inst := installation(t, "", "blueprint: {}")
	values := constructed(t, "[{name: size, schema: {}}, {name: cluster, targetType: kubernetes-cluster}, {name: list, type: targetList, targetType: kubernetes-cluster}]", fleet(), nil)
	objects, err := DataCopies(inst, values)
	if err != nil {
		t.Fatal(err)
	}
	targets, err := TargetCopies(inst, values)
	if err != nil {
		t.Fatal(err)
	}
	child := installation(t, "inst", "blueprint: {}\nexports: {data: [{name: token, dataRef: the-token}]}")
	exported, err := MakeExports(child, map[string]any{"token": "abc"})
	if err != nil {
		t.Fatal(err)
	}
	var last string
	for i := range 2 {
		// The order in which objects are found is of no importance.
		slices.Reverse(targets)
		data, byKey, err := ScopeValues(append(slices.Clone(objects.DataObjects), exported.DataObjects...), objects.Secrets, targets)
		if err != nil || asJSON(t, data) != `{"size":{"id":123456789012345678901234567890,"ratio":1.1,"replicas":3},"the-token":"abc"}` {
			t.Fatalf("imports and the exports of children by their keys: %s, %v", asJSON(t, data), err)
		}
		if len(byKey) != 2 || byKey["cluster"].(map[string]any)["kind"] != "Target" {
			t.Fatalf("Targets %s", asJSON(t, byKey))
		}
		if element := short(t, byKey["list"]); i == 1 && element != last {
			t.Errorf("once element %s of a list is seen, once %s", last, element)
		} else {
			last = element
		}
	}
	_, _, err = ScopeValues([]*v1alpha1.DataObject{{Data: v1alpha1.NewAnyJSON([]byte(`"` + hidden))}}, nil, nil)
	wantError(t, "a DataObject that cannot be read", err, "the value is not JSON")
	_, _, err = ScopeValues(nil, nil, []*v1alpha1.Target{target("bad", `"`+hidden)})
	wantError(t, "a Target that cannot be encoded", err, "Target bad cannot be encoded as JSON")
}
