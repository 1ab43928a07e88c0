package dataflow

import (
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// TestDuplicateKeys: of several objects with one key the same one is seen, in whichever order they
// come, and errors in several have the same message.
func TestDuplicateKeys(t *testing.T) {
	labels := map[string]string{v1alpha1.DataObjectKeyLabel: "x", v1alpha1.DataObjectTargetMapKeyLabel: "x"}
	of := func(name, value string) *v1alpha1.DataObject {
		return &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: v1alpha1.NewAnyJSON([]byte(value))}
	}
	objects := []*v1alpha1.DataObject{of("a", "1"), of("b", "2")}
	targets := []*v1alpha1.Target{{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: labels}}, {ObjectMeta: metav1.ObjectMeta{Name: "b", Labels: labels}}}
	first, _, err := ScopeValues(objects, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, taken := KeyMap(targets)
	slices.Reverse(objects)
	slices.Reverse(targets)
	second, _, err := ScopeValues(objects, nil, nil)
	if err != nil || !reflect.DeepEqual(first, second) {
		t.Errorf("%v, and turned round %v (%v)", first, second, err)
	}
	if _, again := KeyMap(targets); taken == nil || again == nil || taken.Error() != again.Error() {
		t.Errorf("%v, and turned round %v", taken, again)
	}
}
