package inspect

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// TestMessagesNameTargets: what controllers say of copies is told with the names that
// people know, and the objects stay as they are.
func TestMessagesNameTargets(t *testing.T) {
	object := v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("shop"), "cluster")
	second := v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope("shop"), "other")
	message := "deploy item x (x-1, Target " + object + "): bad check on Target ns/" + second
	shop := named("shop", broken(message))
	shop.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "cluster", Target: "edge"}, {Name: "other", Target: "south"}}
	web := named("web-1", partOf("shop"), says(condition("Ready", v1alpha1.ConditionFalse, "Waits", message)))
	web.Namespace, shop.Namespace = "ns", "ns"
	web.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "own", Target: "cluster"}, {Name: "beside", Target: "other"}}
	run := execution("web-1", func(e *v1alpha1.Execution) {
		e.OwnerReferences = ownedBy("landscaper.gardener.cloud/v1alpha1", "Installation", "web-1")
	})
	one := item("x-1", "web-1", "Failed")
	one.Spec.Target = &v1alpha1.ObjectReference{Name: object, Namespace: "ns"}
	one.Status.LastError = &v1alpha1.Error{Message: message, LastUpdateTime: *at(1)}

	tree := Tree(Snapshot{Installations: []*v1alpha1.Installation{shop, web}, Executions: []*v1alpha1.Execution{run}, DeployItems: []*v1alpha1.DeployItem{one}}, "ns", "shop")
	const want = "deploy item x (x-1, Target edge): bad check on Target ns/south"
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
		for _, entry := range node.events() {
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
