package responsibility

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

func TestResponsible(t *testing.T) {
	target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "edge", Labels: map[string]string{"size": "7"}, Annotations: map[string]string{"zone": "north"},
	}}
	require := func(key, operator string, values ...string) []v1alpha1.Requirement {
		return []v1alpha1.Requirement{{Key: key, Operator: operator, Values: values}}
	}
	type selector = v1alpha1.TargetSelector
	tests := []struct {
		reason    string
		selectors []selector
		want      bool
	}{
		{"no selectors take everything", nil, true},
		{"the name and any namespace", []selector{{Targets: []v1alpha1.ObjectReference{{Name: "edge"}}}}, true},
		{"the name and the namespace", []selector{{Targets: []v1alpha1.ObjectReference{{Name: "edge", Namespace: "shop"}}}}, true},
		{"another namespace", []selector{{Targets: []v1alpha1.ObjectReference{{Name: "edge", Namespace: "other"}}}}, false},
		{"an annotation", []selector{{Annotations: require("zone", "in", "north", "south")}}, true},
		{"an annotation that must not be there", []selector{{Annotations: require("zone", "!")}}, false},
		{"a label by size", []selector{{Labels: require("size", "gt", "6")}}, true},
		{"a label by size that is too small", []selector{{Labels: require("size", "gt", "7")}}, false},
		{"all parts of a selector count", []selector{{Annotations: require("zone", "=", "north"), Labels: require("size", "=", "8")}}, false},
		{"one of several selectors is enough", []selector{{Annotations: require("zone", "=", "south")}, {Annotations: require("zone", "exists")}}, true},
		{"the other spelling of operator", []selector{{Annotations: []v1alpha1.Requirement{{Key: "zone", Operation: "=", Values: []string{"north"}}}}}, true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			selectors, err := New(test.selectors)
			if err != nil {
				t.Errorf("%v", err)
			}
			if got := Of(selectors, target); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
	if !Of([]Selector{{}}, nil) {
		t.Error("an item whose target is missing is everybody's")
	}
	if _, err := New([]selector{{Labels: require("a", "like", "b")}}); err == nil {
		t.Error("an unknown operator was accepted")
	}
}
