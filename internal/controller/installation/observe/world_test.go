package observe_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/observe"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/siblings"
)

// world is a cache and an API server, which may have different objects, and the reads of each.
type world struct {
	observe.Reader
	cache, server *fakeapi.Fault
}

// objects are in the cache or in the API server.
type objects []client.Object

func newWorld(t *testing.T, cached, live objects) *world {
	t.Helper()
	w := &world{cache: &fakeapi.Fault{Reading: true, At: -1}, server: &fakeapi.Fault{Reading: true, At: -1}}
	w.Reader = observe.Reader{
		Cached: w.cache.Wrap(t, fakeapi.New(t, cached...)), Live: w.server.Wrap(t, fakeapi.New(t, live...)),
		Relations: &siblings.Cache{}, Sources: &repocontext.Reader{},
	}
	return w
}

// same is a world where the cache is not behind.
func same(t *testing.T, known ...client.Object) *world {
	t.Helper()
	return newWorld(t, known, known)
}
