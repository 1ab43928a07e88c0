package rollout

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// inflating is a cluster that answers with objects of 1 MiB, whatever was written.
type inflating struct{ *fakecluster.Cluster }

func inflated(object *unstructured.Unstructured, err error) (*unstructured.Unstructured, error) {
	if err == nil {
		object = object.DeepCopy()
		object.SetAnnotations(map[string]string{"long": strings.Repeat("x", 1<<20)})
	}
	return object, err
}

// Create implements target.Cluster.
func (c inflating) Create(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, owner string) (*unstructured.Unstructured, error) {
	return inflated(c.Cluster.Create(ctx, mapping, object, owner))
}

// Get implements target.Cluster.
func (c inflating) Get(ctx context.Context, mapping *meta.RESTMapping, namespace, name string) (*unstructured.Unstructured, error) {
	return inflated(c.Cluster.Get(ctx, mapping, namespace, name))
}

// TestMemory: 200 objects wait, of which a cluster answers with 1 MiB each; watches work, or do not, so
// that objects are read.
func TestMemory(t *testing.T) {
	for _, watches := range []error{nil, errors.New("no watch")} {
		t.Run(fmt.Sprintf("watches: %v", watches), func(t *testing.T) {
			var pods []string
			for i := range 200 {
				pods = append(pods, fmt.Sprintf("{apiVersion: v1, kind: Pod, metadata: {name: p%d, namespace: ns}}", i))
			}
			cluster := fakecluster.New()
			cluster.NoWatch = watches
			before := heap()
			r, err := Begin(t.Context(), &testJob{}, inflating{cluster}, wishFor(objects(t, pods...)), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			waiting, err := r.Continue(t.Context())
			if watches == nil && len(waiting) != 200 || watches != nil && err == nil {
				t.Fatalf("%d objects are awaited, error %v", len(waiting), err)
			}
			kept := heap() - before
			t.Logf("200 objects of 1 MiB take %d KiB", kept>>10)
			if kept > 16<<20 {
				t.Errorf("%d MiB are kept while the item waits, want at most 16", kept>>20)
			}
			runtime.KeepAlive(waiting)
		})
	}
}

func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
