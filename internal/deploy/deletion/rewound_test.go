package deletion

import (
	"testing"
	"testing/synctest"
	"time"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// TestStoreOfTheTargetIsRestored: the watch shows an older version than the answer to the deletion,
// or nothing at an older version, for ever. The deletion is triggered, asks the cluster, and
// continues with what exists.
func TestStoreOfTheTargetIsRestored(t *testing.T) {
	for _, test := range []struct {
		reason      string
		exists, end bool
	}{
		{"the object is there: what it has now is what is left", true, false},
		{"the object is deleted", false, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, triggered := fakecluster.New(), make(chan struct{}, 10)
				left := c.Put(parse(t, held))
				mapping, err := c.Mapping(t.Context(), left.GroupVersionKind())
				if err != nil {
					t.Fatal(err)
				}
				if !test.exists {
					c.Remove("ConfigMap", "ns", "a")
				}
				left.SetResourceVersion("999999")
				o := &deletionObject{entry: recorded(left, "manage", left.GetUID()), cluster: c, mapping: mapping, left: left}
				asked := 0
				for range 5 {
					if err := o.look(t.Context(), func() { triggered <- struct{}{} }); err != nil {
						t.Fatal(err)
					}
					if asked = c.Counts()["get"]; asked > 0 {
						break
					}
					select {
					case <-triggered:
					case <-time.After(time.Hour):
						t.Fatal("nothing triggers it")
					}
				}
				if o.gone != test.end || asked != 1 || !o.gone && o.left.GetResourceVersion() == "999999" {
					t.Errorf("gone %t after %d questions, left %v", o.gone, asked, o.left)
				}
			})
		})
	}
}
