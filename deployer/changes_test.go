package deployer

import "testing"

type noChanges struct{}

func (noChanges) Note(string, Change, string) {}

// TestNoter: what no job counts costs no memory for the versions of what is read.
func TestNoter(t *testing.T) {
	counting := &reconciler{options: Options{Changes: noChanges{}}}
	for _, test := range []struct {
		reason string
		item   *Item
		want   bool
	}{
		{"a job", &Item{reconciler: counting, run: &run{jobID: "a"}}, true},
		{"another process has a deployer", &Item{reconciler: &reconciler{}, run: &run{jobID: "a"}}, false},
		{"a look at a finished item", &Item{reconciler: counting, run: &run{}}, false},
		{"a plan", &Item{}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := test.item.Noter() != nil; got != test.want {
				t.Errorf("got %t", got)
			}
		})
	}
}
