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
		{"a namespace that a template has left empty limits nothing", `{"apiVersion":"v1","kind":"configmaps","namespace":null}`,
			&ResourceType{}, &ResourceType{APIVersion: "v1", Kind: "configmaps"}},
		{"nothing where a list is expected is an empty list", `null`, &ResourceSelector{}, &ResourceSelector{}},
		{"an object with space before it", " \n{\"kind\":\"Secret\"}", &ResourceSelector{}, &ResourceSelector{{Kind: "Secret"}}},
		{"the older spelling does not switch the newer one off", `{"type":"crds","forceDelete":true,"force-delete":false}`,
			&PredefinedResourceGroup{}, &PredefinedResourceGroup{Type: CRDResources, ForceDelete: true}},
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
}

// TestWrongTypes: what cannot be meant is an error, not nothing.
func TestWrongTypes(t *testing.T) {
	tests := []struct {
		reason, json string
		into         any
	}{
		{"a number for a namespace", `{"namespace":1}`, &ResourceType{}},
		{"numbers for namespaces", `{"namespace":[1]}`, &ResourceType{}},
		{"a map for a namespace", `{"namespace":{"a":"b"}}`, &ResourceType{}},
		{"a text for names", `{"names":"a"}`, &ResourceType{}},
		{"a text for a choice, in the older spelling", `{"type":"crds","force-delete":"true"}`, &PredefinedResourceGroup{}},
		{"a text for a choice", `{"resources":[],"forceDelete":"yes"}`, &CustomResourceGroup{}},
		{"a text for kinds", `{"resources":"configmaps"}`, &CustomResourceGroup{}},
		{"a list of texts for objects", `["a"]`, &ResourceSelector{}},
		{"a text for objects", `"a"`, &ResourceSelector{}},
		{"a broken object for objects", `{"kind":1}`, &ResourceSelector{}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if err := json.Unmarshal([]byte(test.json), test.into); err == nil {
				t.Errorf("it was read as %+v", test.into)
			}
		})
	}
}

// TestModes: who names no mode has the published rules.
func TestModes(t *testing.T) {
	for mode, known := range map[ReadinessMode]bool{"": true, ReadinessModeLegacy: true, ReadinessModeKstatus: true, "Kstatus": false, "none": false} {
		t.Run("mode "+string(mode), func(t *testing.T) {
			if mode.Known() != known {
				t.Errorf("known: %t", !known)
			}
		})
	}
}

// FuzzSpellings: whatever is read is written in the spelling of today, and means the same.
func FuzzSpellings(f *testing.F) {
	for _, seed := range []string{`{"namespace":"a"}`, `{"namespace":["a",null],"namespaces":["b"]}`, `{"namespace":null}`, `{"names":[""],"Namespace":"x"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		read := ResourceType{}
		if json.Unmarshal(text, &read) != nil {
			return
		}
		written, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		again := ResourceType{}
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatalf("%s cannot be read: %v", written, err)
		}
		if diff := cmp.Diff(read, again, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-first +second\n%s", diff)
		}
	})
}
