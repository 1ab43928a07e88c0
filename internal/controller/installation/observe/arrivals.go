package observe

import (
	"reflect"
	"sync"
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
	waits map[arrival]map[types.NamespacedName]time.Time
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
func (a *Arrivals) Await(object client.Object, key, inst types.NamespacedName) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	now, of := time.Now(), arrivalOf(object, key)
	if a.waits == nil {
		a.waits = map[arrival]map[types.NamespacedName]time.Time{}
	}
	if a.waits[of] == nil {
		a.waits[of] = map[types.NamespacedName]time.Time{}
	}
	since, waits := a.waits[of][inst]
	if waits {
		if left := arrivalLimit - now.Sub(since); left > 0 {
			return expectations.StaleCacheError{RetryAfter: left}
		}
		delete(a.waits[of], inst)
		if len(a.waits[of]) == 0 {
			delete(a.waits, of)
		}
		return nil
	}
	a.waits[of][inst] = now
	return expectations.StaleCacheError{RetryAfter: arrivalLimit}
}

// Arrived returns the Installations that wait for an object which a cache shows now.
func (a *Arrivals) Arrived(object client.Object) []reconcile.Request {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	of := arrivalOf(object, client.ObjectKeyFromObject(object))
	requests := make([]reconcile.Request, 0, len(a.waits[of]))
	for inst := range a.waits[of] {
		requests = append(requests, reconcile.Request{NamespacedName: inst})
	}
	delete(a.waits, of)
	return requests
}

// Forget ends the waits of an Installation that no longer exists.
func (a *Arrivals) Forget(inst types.NamespacedName) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for of, by := range a.waits {
		if delete(by, inst); len(by) == 0 {
			delete(a.waits, of)
		}
	}
}
