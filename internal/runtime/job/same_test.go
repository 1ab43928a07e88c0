package job

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestCompareSame: of several that stand for the same thing, the first one counts in whichever
// order they come.
func TestCompareSame(t *testing.T) {
	of := func(name string, second int64, leaving bool) *metav1.ObjectMeta {
		object := &metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.Unix(second, 0)}
		if leaving {
			object.DeletionTimestamp = &metav1.Time{Time: time.Unix(100, 0)}
		}
		return object
	}
	for _, test := range []struct {
		reason   string
		recorded string
		objects  []*metav1.ObjectMeta
		want     string
	}{
		{"the oldest one counts", "", []*metav1.ObjectMeta{of("a", 3, false), of("b", 1, false), of("c", 2, false)}, "b"},
		{"of two of the same second, the one with the smaller name counts", "", []*metav1.ObjectMeta{of("b", 1, false), of("a", 1, false)}, "a"},
		{"the one that the status has recorded counts", "a", []*metav1.ObjectMeta{of("a", 3, false), of("b", 1, false)}, "a"},
		{"the recorded one counts even if it is being deleted: a job keeps its item", "a", []*metav1.ObjectMeta{of("a", 3, true), of("b", 1, false)}, "a"},
		{"one that stays counts before one that is being deleted", "", []*metav1.ObjectMeta{of("a", 3, false), of("b", 1, true)}, "a"},
		{"without the recorded one, the oldest counts", "gone", []*metav1.ObjectMeta{of("a", 3, false), of("b", 1, false)}, "b"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			for range len(test.objects) {
				first := slices.MinFunc(test.objects, func(a, b *metav1.ObjectMeta) int { return CompareDuplicates(a, b, test.recorded) })
				if first.Name != test.want {
					t.Errorf("%s counts, want %s", first.Name, test.want)
				}
				test.objects = append(test.objects[1:], test.objects[0])
			}
		})
	}
}
