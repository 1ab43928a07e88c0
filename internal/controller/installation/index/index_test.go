package index_test

import (
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// TestWaitsAs: under which keys an Installation is found by those that unblock it.
func TestWaitsAs(t *testing.T) {
	for _, test := range []struct {
		reason  string
		options []testbuilders.Option
		want    []string
	}{
		{"an Installation that has never had a job", nil, nil},
		{"a root that waits for its imports", []testbuilders.Option{testbuilders.Jobs("b", "a", "Init")}, []string{"Init", "-/Init"}},
		{"a subinstallation that waits for its imports", []testbuilders.Option{testbuilders.Sub, testbuilders.Jobs("b", "a", "Init")}, []string{"Init", "parent/Init"}},
		{"an Installation that waits until others are deleted", []testbuilders.Option{testbuilders.Sub, testbuilders.Jobs("b", "a", "InitDelete")}, []string{"InitDelete", "parent/InitDelete"}},
		{"an Installation that waits for its imports when others are deleted", []testbuilders.Option{testbuilders.Sub, testbuilders.Jobs("b", "a", "CleanupOrphaned")}, []string{"Init", "parent/Init"}},
		{"an Installation whose children are at work does not wait for siblings", []testbuilders.Option{testbuilders.Jobs("b", "a", "Progressing")}, nil},
		{"an Installation with dependents to trigger", []testbuilders.Option{testbuilders.Jobs("a", "a", "Succeeded"), testbuilders.WithDependents("x", "y")}, []string{"tells x", "tells y"}},
		{"an Installation with dependents to trigger that waits itself", []testbuilders.Option{testbuilders.Jobs("b", "a", "Init"), testbuilders.WithDependents("x")}, []string{"tells x", "Init", "-/Init"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := index.WaitsAs(testbuilders.Situation(test.options...).Inst); !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	if got := index.WaitsAs(&v1alpha1.Execution{}); got != nil {
		t.Errorf("what is no Installation waits as %v", got)
	}
}

// TestImportsOfRoot: what the index of imports knows of an Installation.
func TestImportsOfRoot(t *testing.T) {
	for _, test := range []struct {
		reason, imports string
		options         []testbuilders.Option
		want            []string
	}{
		{"nothing", `{}`, nil, nil},
		{"data of each kind", `{data: [{name: a, dataRef: x}, {name: b, secretRef: {name: s, key: k}}, {name: c, configMapRef: {name: m, key: k}}]}`, nil, []string{"ConfigMap n/m", "DataObject n/x", "Secret n/s"}},
		{"Targets, a list of them, and a map", `{targets: [{name: a, target: t}, {name: b, targets: [u, v]}, {name: c, targetMap: {k: w}}]}`, nil, []string{"Target n/t", "Target n/u", "Target n/v", "Target n/w"}},
		{"a subinstallation follows its parent, not what it imports", `{data: [{name: a, dataRef: x}]}`, []testbuilders.Option{testbuilders.Sub}, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := testbuilders.Situation(test.options...).Inst
			inst.Namespace, inst.Name = "n", "self"
			if err := yaml.Unmarshal([]byte(test.imports), &inst.Spec.Imports); err != nil {
				t.Fatal(err)
			}
			got := index.ImportsOfRoot(inst)
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	if got := index.ImportsOfRoot(&v1alpha1.Execution{}); got != nil {
		t.Errorf("what is no Installation imports %v", got)
	}
}
