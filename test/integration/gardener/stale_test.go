package gardener_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/lifecycle"
	"go.landscaper.dev/internal/controller/shootflux/managed"
	"go.landscaper.dev/internal/server/shootflux"
)

var errLost = errors.New("the answer is lost")

// TestWritesThatMeetThePast writes contents through a cache that is behind, and through a network
// that loses answers: the next attempt succeeds, and no false error is reported.
func TestWritesThatMeetThePast(t *testing.T) {
	shoot := newSubject(t, "stale").shoot
	config, err := clientcmd.BuildConfigFromFlags("", world.Seed.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	present, err := client.NewWithWatch(config, client.Options{Scheme: shootflux.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	piece := managed.Piece{Name: lifecycle.DataName, Objects: []*unstructured.Unstructured{{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": "stale"},
	}}}}
	ensure := func(through client.Client) (bool, error) {
		_, changed, err := managed.NewWriter(through, through).Ensure(limited(t), shoot.Namespace(), piece)
		return changed, err
	}

	lossy := interceptor.NewClient(present, interceptor.Funcs{Create: func(ctx context.Context, to client.WithWatch, object client.Object, options ...client.CreateOption) error {
		return errors.Join(to.Create(ctx, object, options...), errLost)
	}})
	for _, lost := range []string{"answer about the Secret", "answer about the ManagedResource"} {
		if _, err := ensure(lossy); !errors.Is(err, errLost) {
			t.Fatalf("%s: %v", lost, err)
		}
		// The Secret is there now; the next answer is that of the ManagedResource.
		lossy = interceptor.NewClient(present, interceptor.Funcs{Create: func(ctx context.Context, to client.WithWatch, object client.Object, options ...client.CreateOption) error {
			err := to.Create(ctx, object, options...)
			if _, contents := object.(*corev1.Secret); contents {
				return err
			}
			return errors.Join(err, errLost)
		}})
	}
	behind := interceptor.NewClient(present, interceptor.Funcs{Get: func(ctx context.Context, from client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
		if _, cached := object.(*gardener.ManagedResource); cached {
			return apierrors.NewNotFound(gardener.ResourcesVersion.WithResource("managedresources").GroupResource(), key.Name)
		}
		return from.Get(ctx, key, object, options...)
	}})
	if _, err := ensure(behind); !apierrors.IsConflict(err) {
		t.Errorf("a cache that is behind is no conflict but %v", err)
	}
	if changed, err := ensure(present); changed || err != nil {
		t.Errorf("an existing object is written again: %t, %v", changed, err)
	}
}
