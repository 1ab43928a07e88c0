package inspect

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// TestTargetOf follows the copies of Targets to what people have named.
func TestTargetOf(t *testing.T) {
	named := func(name, parent string, imports ...v1alpha1.TargetImport) *v1alpha1.Installation {
		i := &v1alpha1.Installation{}
		i.Name, i.Spec.Imports.Targets = name, imports
		if parent != "" {
			i.Labels = map[string]string{v1alpha1.EncompassedByLabel: parent}
		}
		return i
	}
	root := named("shop", "", v1alpha1.TargetImport{Name: "cluster", Target: "edge"}, v1alpha1.TargetImport{Name: "direct", Target: "#real"},
		v1alpha1.TargetImport{Name: "list", Targets: []string{"first", "second"}}, v1alpha1.TargetImport{Name: "map", TargetMap: map[string]string{"eu": "frankfurt"}})
	sub := named("web-1", "shop", v1alpha1.TargetImport{Name: "own", Target: "cluster"}, v1alpha1.TargetImport{Name: "there", Target: "direct"},
		v1alpha1.TargetImport{Name: "one", Target: "list[1]"}, v1alpha1.TargetImport{Name: "eu", Target: "map[eu]"}, v1alpha1.TargetImport{Name: "all", TargetListReference: "list"},
		v1alpha1.TargetImport{Name: "keyed", TargetMapReference: "map"}, v1alpha1.TargetImport{Name: "lost", TargetMapReference: "gone"},
		v1alpha1.TargetImport{Name: "made", Target: "of-a-sibling"})
	leaf := named("page-2", "web-1", v1alpha1.TargetImport{Name: "c", Target: "own"}, v1alpha1.TargetImport{Name: "again", TargetMapReference: "keyed"})
	copyOf := func(parent, name string) string {
		return v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope(parent), name)
	}
	whole := []*v1alpha1.Installation{root, sub, leaf}
	for _, test := range []struct {
		reason  string
		lineage []*v1alpha1.Installation
		object  string
		want    string
	}{
		{"a root names it itself", whole[:1], "edge", "edge"},
		{"a copy", whole[:2], copyOf("shop", "cluster"), "edge"},
		{"a copy of a copy", whole, copyOf("web-1", "own"), "edge"},
		{"by its real name", whole[:2], copyOf("shop", "direct"), "real"},
		{"an element of a list", whole[:2], copyOf("shop", "list[1]"), "second"},
		{"an element of a list that is handed on", whole[:2], copyOf("shop", "list[0]"), "first"},
		{"an element of a map", whole[:2], copyOf("shop", "map[eu]"), "frankfurt"},
		{"an element of a map that is handed on", whole, copyOf("web-1", "keyed[eu]"), "frankfurt"},
		{"a map without such a key", whole, copyOf("web-1", "keyed[us]"), copyOf("web-1", "keyed[us]")},
		{"a map that nobody has", whole[:2], copyOf("shop", "gone[eu]"), copyOf("shop", "gone[eu]")},
		{"what a sibling has exported has the name that it was given", whole[:2], copyOf("shop", "of-a-sibling"), "of-a-sibling"},
		{"what nothing leads to", whole[:2], "other", "other"},
		{"nobody knows the Installation", nil, "other", "other"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := TargetOf(test.lineage, test.object); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestMessagesNameTargets: what controllers say of copies is told with the names that
// people know, and the objects stay as they are.
func TestMessagesNameTargets(t *testing.T) {
	object := v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("shop"), "cluster")
	message := "deploy item x (x-1, Target " + object + "): bad"
	shop := named("shop", broken(message))
	shop.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "cluster", Target: "edge"}}
	web := named("web-1", partOf("shop"), says(condition("Ready", v1alpha1.ConditionFalse, "Waits", message)))
	web.Namespace, shop.Namespace = "ns", "ns"
	web.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "own", Target: "cluster"}}
	run := execution("web-1", func(e *v1alpha1.Execution) {
		e.OwnerReferences = ownedBy("landscaper.gardener.cloud/v1alpha1", "Installation", "web-1")
	})
	one := item("x-1", "web-1", "Failed")
	one.Spec.Target = &v1alpha1.ObjectReference{Name: object, Namespace: "ns"}
	one.Status.LastError = &v1alpha1.Error{Message: message, LastUpdateTime: *at(1)}

	tree := Tree(Snapshot{Installations: []*v1alpha1.Installation{shop, web}, Executions: []*v1alpha1.Execution{run}, DeployItems: []*v1alpha1.DeployItem{one}}, "ns", "shop")
	const want = "deploy item x (x-1, Target edge): bad"
	failed := 0
	tree.Walk(func(node *Node) {
		if node.LastError != nil {
			failed++
			if node.LastError.Message != want {
				t.Errorf("%s: %s", node.Name, node.LastError.Message)
			}
		}
		if node.Message != "" && node.Message != want {
			t.Errorf("%s: %s", node.Name, node.Message)
		}
		for _, entry := range node.told() {
			if strings.Contains(entry.Message, object) {
				t.Errorf("%s: %s", node.Name, entry.Message)
			}
		}
	})
	if failed != 2 || one.Status.LastError.Message != message || shop.Status.LastError.Message != message {
		t.Errorf("%d errors; the objects were changed: %+v", failed, one.Status.LastError)
	}
	event := event("uid", "Bad", message, 2)
	tree.Children[0].Installation.UID = "uid"
	if entries := EventsOf(tree, []*corev1.Event{event}); len(entries) != 1 || entries[0].Message != want {
		t.Errorf("%+v", entries)
	}
}
