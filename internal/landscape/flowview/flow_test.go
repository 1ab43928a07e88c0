package flowview_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/flowview"
	"go.landscaper.dev/internal/landscape/inspect"
)

func installation(name, parent string, change func(*v1alpha1.InstallationSpec)) *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name}}
	if parent != "" {
		inst.Labels = map[string]string{v1alpha1.EncompassedByLabel: parent}
		inst.Annotations = map[string]string{v1alpha1.SubinstallationNameAnnotation: name[len(parent)+1:]}
	}
	inst.Status.InstallationPhase = "Failed"
	change(&inst.Spec)
	return inst
}

func TestOf(t *testing.T) {
	forest := inspect.Forest(inspect.Snapshot{Installations: []*v1alpha1.Installation{
		installation("a", "", func(spec *v1alpha1.InstallationSpec) {
			spec.Exports.Data = []v1alpha1.DataExport{{Name: "x", DataRef: "host"}, {Name: "unused"}}
		}),
		installation("b", "", func(spec *v1alpha1.InstallationSpec) {
			spec.Imports.Data = []v1alpha1.DataImport{
				{Name: "x", DataRef: "host"}, {Name: "y", DataRef: "host"},
				{Name: "s", SecretRef: &v1alpha1.ImportSecretReference{LocalSecretReference: v1alpha1.LocalSecretReference{Name: "login"}}}, {Name: "c", ConfigMapRef: &v1alpha1.ImportConfigMapReference{LocalConfigMapReference: v1alpha1.LocalConfigMapReference{Name: "host"}}},
			}
			spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "clusters", Targets: []string{"blue", "green"}}}
		}),
		installation("b-one", "b", func(spec *v1alpha1.InstallationSpec) {
			spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "cluster", Target: "clusters[1]"}}
			spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "t", Target: "made"}, {Name: "unused"}}
		}),
	}})
	want := &flowview.Scope{
		Units: []*flowview.Unit{
			{Name: "a", Title: "a", Phase: "Failed", State: inspect.Failed},
			{Name: "b", Title: "b", Phase: "Failed", State: inspect.Failed, Inside: &flowview.Scope{
				Units: []*flowview.Unit{{Name: "b-one", Title: "one", Phase: "Failed", State: inspect.Failed}},
				Values: []*flowview.Value{
					{Kind: "Target", Name: "clusters", Importers: []string{"b-one"}},
					{Kind: "Target", Name: "made", Exporters: []string{"b-one"}},
				},
			}},
		},
		Values: []*flowview.Value{
			{Kind: "DataObject", Name: "host", Exporters: []string{"a"}, Importers: []string{"b"}},
			{Kind: "Target", Name: "blue", Importers: []string{"b"}},
			{Kind: "Target", Name: "green", Importers: []string{"b"}},
			{Kind: "Secret", Name: "login", Importers: []string{"b"}},
			{Kind: "ConfigMap", Name: "host", Importers: []string{"b"}},
		},
	}
	for _, unit := range want.Units {
		unit.Why = "no job was started yet: run landscaper-cli installations reconcile " + unit.Name
	}
	want.Units[1].Inside.Units[0].Why = "no job was started yet"
	if diff := cmp.Diff(want, flowview.Of(forest)); diff != "" {
		t.Error(diff)
	}
}
