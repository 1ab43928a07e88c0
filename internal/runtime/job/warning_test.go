package job

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

// TestDropWarning: a warning that is not true any more is removed, and all others stay.
func TestDropWarning(t *testing.T) {
	for _, test := range []struct {
		reason string
		said   []string
		want   string
	}{
		{"no warning", nil, ""},
		{"another warning stays", []string{"a field is unknown"}, "a field is unknown"},
		{"the only warning is removed with the condition", []string{"Target a leads elsewhere: it stays"}, ""},
		{"one of several warnings is removed", []string{"a field is unknown", "Target a leads elsewhere: it stays", "an object is foreign"}, "a field is unknown; an object is foreign"},
		{"a warning that only mentions it stays", []string{"perhaps Target a leads elsewhere"}, "perhaps Target a leads elsewhere"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var conditions []v1alpha1.Condition
			AddWarnings(&conditions, "Odd", test.said, 1, metav1.Now())
			DropWarning(&conditions, "Target a leads elsewhere")
			found := GetCondition(conditions, v1alpha1.WarningsCondition)
			if found == nil && test.want != "" || found != nil && (found.Message != test.want || found.Reason != "Odd" || found.Status != v1alpha1.ConditionTrue) {
				t.Errorf("the condition is %+v, want %q", found, test.want)
			}
		})
	}
}
