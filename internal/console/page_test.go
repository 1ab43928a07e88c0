package console

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

func installation(name, parent string, change func(*v1alpha1.Installation)) *v1alpha1.Installation {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name)}}
	if parent != "" {
		inst.Labels = map[string]string{v1alpha1.EncompassedByLabel: parent}
		inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: parent, UID: types.UID(parent), Controller: new(true)}}
		inst.Annotations = map[string]string{v1alpha1.SubinstallationNameAnnotation: strings.TrimPrefix(name, parent+"-")}
	}
	inst.Status.JobID = "2"
	change(inst)
	return inst
}

func ends(inst *v1alpha1.Installation, phase v1alpha1.InstallationPhase) {
	inst.Status.InstallationPhase, inst.Status.JobIDFinished = phase, inst.Status.JobID
}

func waits(inst *v1alpha1.Installation, reason reasons.Reason, message string) {
	inst.Status.InstallationPhase, inst.Status.JobIDFinished = v1alpha1.InstallationPhases.Init, "1"
	inst.Status.LastError = &v1alpha1.Error{Reason: string(reason), Message: message, Codes: []v1alpha1.ErrorCode{v1alpha1.ErrorUnfinished}}
}

// landscape is a root of three parts: web imports what database exports, and that what network exports.
// An item of the network has failed.
func landscape() inspect.Snapshot {
	imports := func(inst *v1alpha1.Installation, name string) {
		inst.Spec.Imports.Data = append(inst.Spec.Imports.Data, v1alpha1.DataImport{Name: "in", DataRef: name})
	}
	exports := func(inst *v1alpha1.Installation, name string) {
		inst.Spec.Exports.Data = append(inst.Spec.Exports.Data, v1alpha1.DataExport{Name: "out", DataRef: name})
	}
	execution := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "network-exec", UID: "e"}}
	execution.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "root-network", UID: "root-network", Controller: new(true)}}
	execution.Status.JobID, execution.Status.JobIDFinished, execution.Status.ExecutionPhase = "2", "2", "Failed"
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "subnets-x", UID: "i", Labels: map[string]string{v1alpha1.ExecutionManagedByLabel: "network-exec", v1alpha1.ExecutionManagedNameLabel: "subnets"},
	}}
	item.Status.JobID, item.Status.JobIDFinished, item.Status.Phase = "2", "2", "Failed"
	item.Status.LastError = &v1alpha1.Error{Operation: "Deploy", Reason: "Apply", Message: "quota exceeded"}
	value := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "DataObject"}, ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("root"), "address"),
		Annotations: map[string]string{v1alpha1.DataObjectHashAnnotation: "0123456789abcdef"},
	}}
	return inspect.Snapshot{
		Installations: []*v1alpha1.Installation{
			installation("root", "", func(inst *v1alpha1.Installation) {
				inst.Status.InstallationPhase, inst.Status.JobIDFinished = v1alpha1.InstallationPhases.Progressing, "1"
				inst.Spec.ComponentDescriptor = &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.org/shop", Version: "1.2.0"}}
			}),
			installation("root-web", "root", func(inst *v1alpha1.Installation) {
				imports(inst, "address")
				waits(inst, reasons.AllPredecessorsFinished, "waits for database")
			}),
			installation("root-database", "root", func(inst *v1alpha1.Installation) {
				imports(inst, "subnet")
				exports(inst, "address")
				waits(inst, reasons.AllPredecessorsFinished, "waits for network")
			}),
			installation("root-network", "root", func(inst *v1alpha1.Installation) {
				imports(inst, "plan")
				exports(inst, "subnet")
				ends(inst, v1alpha1.InstallationPhases.Failed)
			}),
			installation("done", "", func(inst *v1alpha1.Installation) { ends(inst, v1alpha1.InstallationPhases.Succeeded) }),
		},
		Executions: []*v1alpha1.Execution{execution}, DeployItems: []*v1alpha1.DeployItem{item},
		Values: []*metav1.PartialObjectMetadata{value},
		Events: []*corev1.Event{
			{InvolvedObject: corev1.ObjectReference{UID: "i"}, Reason: "Old", FirstTimestamp: metav1.Unix(1, 0)},
			{InvolvedObject: corev1.ObjectReference{UID: "i"}, Reason: "New", FirstTimestamp: metav1.Unix(2, 0)},
			{InvolvedObject: corev1.ObjectReference{UID: "done"}, Reason: "Other", FirstTimestamp: metav1.Unix(3, 0)},
		},
	}
}

func newTestState() *state { return newState(Options{Source: still{landscape()}}) }

// TestWays: each hop leads on until the cause, also past the siblings of the start.
func TestWays(t *testing.T) {
	tests := []struct {
		reason, of string
		want       []string
	}{
		{"the root names the cause alone, and the way down", "root", []string{"root network network-exec subnets: quota exceeded"}},
		{"what waits leads to the sibling that it waits for, and on", "root-web", []string{"web: waits for database | database: waits for network | network network-exec subnets: quota exceeded"}},
		{"what has failed leads down", "root-network", []string{"network network-exec subnets: quota exceeded"}},
		{"what is ready waits for nothing", "done", nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var got []string
			for _, way := range newTestState().page("shop", test.of).Ways {
				var words strings.Builder
				for i, hop := range way {
					switch {
					case hop.Beside:
						words.WriteString(": " + way[i-1].Why + " | ")
					case i > 0:
						words.WriteString(" ")
					}
					words.WriteString(hop.Title)
				}
				got = append(got, words.String()+": "+way[len(way)-1].Why)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWayEndsInACycle: two parts that wait for each other.
func TestWayEndsInACycle(t *testing.T) {
	snapshot := landscape()
	for _, inst := range snapshot.Installations {
		if inst.Name == "root-network" {
			waits(inst, reasons.AllPredecessorsFinished, "waits for web")
			inst.Spec.Imports.Data[0].DataRef = "page"
		}
		if inst.Name == "root-web" {
			inst.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "out", DataRef: "page"}}
		}
	}
	snapshot.Executions, snapshot.DeployItems = nil, nil
	ways := newState(Options{Source: still{snapshot}}).page("shop", "root-web").Ways
	if len(ways) != 1 || len(ways[0]) != 3 {
		t.Errorf("%+v", ways)
	}
}

func TestValues(t *testing.T) {
	s := newTestState()
	web, database, network := s.page("shop", "root-web"), s.page("shop", "root-database"), s.page("shop", "root-network")
	in := web.Imports[0].Objects[0]
	if in.Fingerprint != "0123456789ab" || len(in.By) != 1 || in.By[0].Name != "root-database" || in.From != nil || web.Imports[0].Type != "data" {
		t.Errorf("an import comes from the sibling that exports it: %+v", web.Imports)
	}
	if plan := network.Imports[0].Objects[0]; plan.From == nil || plan.From.Name != "root" || plan.Fingerprint != "" {
		t.Errorf("what no sibling exports comes from the imports of the parent: %+v", plan)
	}
	if out := database.Exports[0].Objects[0]; out.Fingerprint != "0123456789ab" || len(out.By) != 1 || out.By[0].Name != "root-web" {
		t.Errorf("an export names who imports it: %+v", out)
	}
}

func TestPage(t *testing.T) {
	p := newTestState().page("shop", "root-network")
	if len(p.Above) != 1 || p.Above[0].Name != "root" {
		t.Errorf("above it is %+v", p.Above)
	}
	if len(p.Items) != 1 || p.Items[0].Error != "quota exceeded" || p.Items[0].Page != "root-network" {
		t.Errorf("items %+v", p.Items)
	}
	if len(p.Events) != 2 || p.Events[0].Reason != "New" {
		t.Errorf("events %+v", p.Events)
	}
	if p := newTestState().page("shop", "root"); p.Flow == nil || len(p.Flow.Units) != 3 || p.Version != "1.2.0" {
		t.Errorf("flow %+v", p.Flow)
	}
	if p := newTestState().page("other", "root"); !p.Missing || p.Tree != nil {
		t.Errorf("an Installation of another namespace: %+v", p)
	}
}

func TestOverview(t *testing.T) {
	tests := []struct{ reason, text, want string }{
		{"what needs attention comes first", "", "root done"},
		{"a name", "DONE", "done"},
		{"the name of a part in its blueprint", "database", "root-database"},
		{"an item", "subnets", "subnets-x"},
		{"a component", "example.org/shop", "root"},
		{"a version", "1.2.0", "root"},
		{"a value, where it is exported and imported", "address", "root-database root-web"},
		{"blanks around it", "  done ", "done"},
		{"nothing", "absent", ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			o := newTestState().overview(test.text)
			var names []string
			for _, row := range o.Rows {
				names = append(names, row.Name)
			}
			if got := strings.Join(names, " "); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			if o.Counts[inspect.Ready] != 1 || o.Counts[inspect.Running] != 1 {
				t.Errorf("counts %v", o.Counts)
			}
		})
	}
	if why := newTestState().overview("").Rows[0].Why; why != "quota exceeded; at item subnets; in network" {
		t.Errorf("the root says %q", why)
	}
}

// TestViewsAreOneLine: a view comes as an event in one line, whatever its texts are.
func TestViewsAreOneLine(t *testing.T) {
	snapshot := landscape()
	snapshot.DeployItems[0].Status.LastError.Message = "two\nlines\r\n\ndata: {}"
	text, err := json.Marshal(newState(Options{Source: still{snapshot}}).page("shop", "root-network"))
	if err != nil || strings.ContainsAny(string(text), "\n\r") {
		t.Errorf("%s %v", text, err)
	}
}
