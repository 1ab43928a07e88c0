package observe_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/model/siblings"
)

// TestChildrenInOrder: subinstallations come in the order of their names in the blueprint, whatever
// order a cache has: messages list several of them.
func TestChildrenInOrder(t *testing.T) {
	parent := testbuilders.ParentWith("job-2", "")
	parent.Namespace = "team-a"
	var known objects
	for name, object := range map[string]string{"web": "x-2", "db": "x-3", "cache": "x-1", "": "x-0"} {
		child := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: object, OwnerReferences: []metav1.OwnerReference{testbuilders.Owner("Installation", "parent", "parent")},
		}}
		if name != "" {
			child.Annotations = map[string]string{v1alpha1.SubinstallationNameAnnotation: name}
		}
		known = append(known, child)
	}
	f := siblings.Family{Inst: parent}
	if err := same(t, known...).Family(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, sub := range f.Subs {
		names = append(names, siblings.NameOf(sub))
	}
	if got := strings.Join(names, " "); got != "cache db web x-0" {
		t.Errorf("they come as %s", got)
	}
}
