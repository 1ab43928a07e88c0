package installation

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/plan"
)

// TestDuplicateSubinstallations: two subinstallations have the name of one template, as a crash
// of another release may have left them. In whichever order a cache lists them, the same one
// counts; the other one is deleted, and an event says so.
func TestDuplicateSubinstallations(t *testing.T) {
	of := func(name string, second int64) *v1alpha1.Installation {
		return &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), CreationTimestamp: metav1.Unix(second, 0),
			Annotations: map[string]string{v1alpha1.SubinstallationNameAnnotation: "db"},
		}}
	}
	for _, test := range []struct {
		reason, recorded, want, other string
	}{
		{"the older subinstallation counts", "", "b-older", "a-younger"},
		{"the subinstallation that the status has recorded counts", "a-younger", "a-younger", "b-older"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst, subs := &v1alpha1.Installation{}, []*v1alpha1.Installation{of("a-younger", 200), of("b-older", 100)}
			if test.recorded != "" {
				inst.Status.SubInstCache = &v1alpha1.SubInstCache{ActiveSubs: []v1alpha1.SubNamePair{{SpecName: "db", ObjectName: test.recorded}}}
			}
			for range 2 {
				live, orphans, err := matched(inst, subs, []plan.Subinstallation{{Name: "db"}})
				if err != nil || live["db"].Name != test.want || len(orphans) != 1 || orphans[0].Name != test.other {
					t.Fatalf("%v counts, %v go, %v", live, orphans, err)
				}
				cache := &v1alpha1.SubInstCache{ActiveSubs: []v1alpha1.SubNamePair{{SpecName: "db", ObjectName: test.want}}}
				if said := strings.Join(duplicates(orphans, cache), "; "); !strings.Contains(said, `Installation `+test.other+` has the name of subinstallation "db" as well, for which Installation `+test.want+` counts`) {
					t.Errorf("%q", said)
				}
				slices.Reverse(subs)
			}
		})
	}
	if said := duplicates([]*v1alpha1.Installation{of("a", 1)}, &v1alpha1.SubInstCache{}); len(said) > 0 {
		t.Errorf("one that no template wants is not a duplicate: %v", said)
	}
}
