package deployer

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestSpellings reads the spellings that documents of the past have shown.
func TestSpellings(t *testing.T) {
	tests := []struct {
		reason    string
		json      string
		got, want any
	}{
		{"a single object instead of a list", `{"apiVersion":"v1","kind":"Secret","name":"a"}`,
			&ResourceSelector{}, &ResourceSelector{{APIVersion: "v1", Kind: "Secret", Name: "a"}}},
		{"a list of objects", `[{"apiVersion":"v1","kind":"Secret","name":"a","namespace":"b"}]`,
			&ResourceSelector{}, &ResourceSelector{{APIVersion: "v1", Kind: "Secret", Name: "a", Namespace: "b"}}},
		{"force-delete of a predefined group", `{"type":"crds","force-delete":true}`,
			&PredefinedResourceGroup{}, &PredefinedResourceGroup{Type: CRDResources, ForceDelete: true}},
		{"forceDelete of a predefined group", `{"type":"crds","forceDelete":true}`,
			&PredefinedResourceGroup{}, &PredefinedResourceGroup{Type: CRDResources, ForceDelete: true}},
		{"force-delete of a custom group", `{"resources":[],"force-delete":true}`,
			&CustomResourceGroup{}, &CustomResourceGroup{Resources: []ResourceType{}, ForceDelete: true}},
		{"namespace instead of namespaces", `{"apiVersion":"v1","kind":"configmaps","namespace":"a"}`,
			&ResourceType{}, &ResourceType{APIVersion: "v1", Kind: "configmaps", Namespaces: []string{"a"}}},
		{"a list under namespace", `{"apiVersion":"v1","kind":"configmaps","namespace":["a"],"namespaces":["b"]}`,
			&ResourceType{}, &ResourceType{APIVersion: "v1", Kind: "configmaps", Namespaces: []string{"b", "a"}}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if err := json.Unmarshal([]byte(test.json), test.got); err != nil {
				t.Errorf("%v", err)
				return
			}
			if diff := cmp.Diff(test.want, test.got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	for _, wrong := range []string{`{"namespace":1}`, `{"names":"a"}`} {
		if err := json.Unmarshal([]byte(wrong), &ResourceType{}); err == nil {
			t.Errorf("%s was accepted", wrong)
		}
	}
}
