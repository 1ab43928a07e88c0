package preview

import (
	"context"
	"errors"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// counting counts what is read.
type counting struct {
	client.Reader
	mutex sync.Mutex
	gets  int
	err   error
}

func (c *counting) Get(_ context.Context, name client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.gets++
	into.SetName(name.Name)
	into.SetLabels(map[string]string{"a": "b"})
	return c.err
}

// TestRemember: an object is read once, however many want it at the same time, and what one of them
// does with it the others do not see.
func TestRemember(t *testing.T) {
	source := &counting{}
	reader := Remember(source)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			target := &v1alpha1.Target{}
			if err := reader.Get(t.Context(), client.ObjectKey{Name: "host"}, target); err != nil || target.Name != "host" || target.Labels["a"] != "b" {
				t.Errorf("%v, %v", target, err)
			}
			target.Labels["a"] = "c"
		})
	}
	group.Wait()
	for _, object := range []client.Object{&corev1.Secret{}, &v1alpha1.Target{}} {
		if err := reader.Get(t.Context(), client.ObjectKey{Name: "host"}, object); err != nil {
			t.Error(err)
		}
	}
	if source.gets != 2 {
		t.Errorf("%d requests for a Target and a Secret", source.gets)
	}
	failing := Remember(&counting{err: errors.New("no")})
	for range 2 {
		if err := failing.Get(t.Context(), client.ObjectKey{Name: "host"}, &v1alpha1.Target{}); err == nil || err.Error() != "no" {
			t.Error(err)
		}
	}
}
