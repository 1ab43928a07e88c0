package observe

import (
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/internal/runtime/expectations"
)

// arrivalLimit is how long a cache may be behind before the API server is asked for an object,
// and how long each time after that.
const arrivalLimit = time.Second

// Arrivals are objects that subinstallations wait for, because another one has reported that it has
// written them and the cache does not show them yet. Watches are mostly behind by milliseconds: to
// wait for them costs nothing, while each look at the API server costs a request.
type Arrivals struct {
	mutex sync.Mutex
	waits map[arrival]map[*Waits]types.NamespacedName
}

// Waits are the objects that one Installation waits for, and since when.
type Waits struct {
	among atomic.Pointer[Arrivals]
	since map[arrival]time.Time
}

// arrival is an object that Installations wait for.
type arrival struct {
	kind reflect.Type
	key  types.NamespacedName
}

func arrivalOf(object client.Object, key types.NamespacedName) arrival {
	return arrival{kind: reflect.TypeOf(object), key: key}
}

// Await returns expectations.StaleCacheError as long as an Installation is to wait for an object to arrive, and
// nil if it is time to ask the API server.
func (a *Arrivals) Await(object client.Object, key types.NamespacedName, w *Waits, inst types.NamespacedName) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	now, of := time.Now(), arrivalOf(object, key)
	if since, waits := w.since[of]; waits {
		if left := arrivalLimit - now.Sub(since); left > 0 {
			return expectations.StaleCacheError{RetryAfter: left}
		}
		a.end(of, w)
		return nil
	}
	if a.waits == nil {
		a.waits = map[arrival]map[*Waits]types.NamespacedName{}
	}
	if a.waits[of] == nil {
		a.waits[of] = map[*Waits]types.NamespacedName{}
	}
	if w.since == nil {
		w.since = map[arrival]time.Time{}
		w.among.Store(a)
	}
	a.waits[of][w], w.since[of] = inst, now
	return expectations.StaleCacheError{RetryAfter: arrivalLimit}
}

// end ends the wait for an object.
func (a *Arrivals) end(of arrival, w *Waits) {
	delete(w.since, of)
	if delete(a.waits[of], w); len(a.waits[of]) == 0 {
		delete(a.waits, of)
	}
}

// Arrived returns the Installations that wait for an object which a cache shows now.
func (a *Arrivals) Arrived(object client.Object) []reconcile.Request {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	of := arrivalOf(object, client.ObjectKeyFromObject(object))
	requests := make([]reconcile.Request, 0, len(a.waits[of]))
	for w, inst := range a.waits[of] {
		requests = append(requests, reconcile.Request{NamespacedName: inst})
		a.end(of, w)
	}
	return requests
}

// End ends the waits of an Installation that no longer exists.
func (w *Waits) End() {
	among := w.among.Load()
	if among == nil {
		return
	}
	among.mutex.Lock()
	defer among.mutex.Unlock()
	for of := range w.since {
		among.end(of, w)
	}
}
