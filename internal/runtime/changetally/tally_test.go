package changetally

import (
	"fmt"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestTally: what becomes of an object counts once.
func TestTally(t *testing.T) {
	for _, test := range []struct {
		reason  string
		changes []uint8
		want    v1alpha1.ObjectCounts
	}{
		{"created", []uint8{Created}, v1alpha1.ObjectCounts{Created: 1}},
		{"created and then changed, as with a patch after the deployment", []uint8{Created, Changed, Changed}, v1alpha1.ObjectCounts{Created: 1}},
		{"changed twice", []uint8{Changed, Changed}, v1alpha1.ObjectCounts{Changed: 1}},
		{"changed and then deleted", []uint8{Changed, Deleted}, v1alpha1.ObjectCounts{Deleted: 1}},
		{"deleted and created again", []uint8{Deleted, Created}, v1alpha1.ObjectCounts{Created: 1, Deleted: 1}},
		{"nothing", nil, v1alpha1.ObjectCounts{}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			tally := New()
			tally.Begin("x", "a")
			for _, change := range test.changes {
				tally.Note("a", change, "one")
				tally.Note("other", change, "one")
			}
			if got := tally.Of("a"); got == nil || *got != test.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// TestForgotten: a job that this process has not begun has no number, rather than a wrong one.
func TestForgotten(t *testing.T) {
	tally := New()
	tally.most = 10
	tally.Begin("x", "a")
	tally.Begin("x", "b")
	if tally.Of("a") != nil || tally.Of("unknown") != nil || tally.Of("b") == nil {
		t.Error("only the last job of a root is counted")
	}
	tally.Begin("y", "c")
	for i := range 8 {
		tally.Note("b", Created, fmt.Sprint(i))
	}
	for i := range 4 {
		tally.Note("c", Created, fmt.Sprint(i))
	}
	if tally.Of("b") != nil || tally.Of("c").Created != 4 || tally.objects != 4 || len(tally.order) != 1 {
		t.Errorf("%+v", tally)
	}
	tally.Forget("y", "before")
	tally.Forget("sub", "c")
	if tally.Of("c") == nil {
		t.Error("a job is forgotten with an earlier one, or with a subinstallation that has the same")
	}
	tally.Forget("y", "c")
	if tally.Of("c") != nil || tally.objects != 0 || len(tally.last) > 1 {
		t.Errorf("%+v", tally)
	}
}
