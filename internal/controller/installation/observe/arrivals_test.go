package observe

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/expectations"
)

// TestArrivals: an Installation waits for a late object with a wake, by its event or by a time, and
// the API server is asked at most once in a while.
func TestArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Arrivals
		key := types.NamespacedName{Namespace: "ns", Name: "x"}
		var ofOne, ofTwo Waits
		one := func(object client.Object) error {
			return a.Await(object, key, &ofOne, types.NamespacedName{Namespace: "ns", Name: "one"})
		}
		two := func(object client.Object) error {
			return a.Await(object, key, &ofTwo, types.NamespacedName{Namespace: "ns", Name: "two"})
		}
		data := &v1alpha1.DataObject{}
		data.Namespace, data.Name = key.Namespace, key.Name
		target := &v1alpha1.Target{}
		target.Namespace, target.Name = key.Namespace, key.Name
		asked := 0
		for begun := time.Now(); time.Since(begun) < 10*time.Second; {
			pause, behind := expectations.RetryAfter(one(data))
			if !behind {
				asked++
				continue
			}
			if pause <= 0 || pause > arrivalLimit {
				t.Fatalf("the next look comes in %s", pause)
			}
			<-time.After(pause / 2)
			if _, behind := expectations.RetryAfter(one(data)); !behind {
				t.Error("a look in between asks the API server")
			}
			<-time.After(pause - pause/2)
		}
		if asked > 10 || asked < 5 {
			t.Errorf("the API server was asked %d times in 10 s", asked)
		}
		ofOne.End()
		_ = one(data)
		_ = two(data)
		if enqueued := a.Arrived(target); len(enqueued) > 0 {
			t.Errorf("an object of another kind enqueues %v", enqueued)
		}
		if enqueued := a.Arrived(data); len(enqueued) != 2 || len(a.Arrived(data)) > 0 || len(a.waits) > 0 {
			t.Errorf("enqueued are %v, and %v is left", enqueued, a.waits)
		}
		_ = one(data)
		ofOne.End()
		if len(a.waits) > 0 {
			t.Errorf("an Installation that no longer exists is remembered: %v", a.waits)
		}
	})
}
