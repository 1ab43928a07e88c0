package lifecycle

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/managed"
)

// stray is a ManagedResource as this extension makes it.
func stray(changes ...func(*gardener.ManagedResource)) *gardener.ManagedResource {
	keep := true
	made := &gardener.ManagedResource{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: at.Namespace, Name: ConfigName, Finalizers: []string{"x/y"}, Labels: map[string]string{managed.ManagerLabel: managed.Manager},
		},
		Spec: gardener.ManagedResourceSpec{KeepObjects: &keep},
	}
	for _, change := range changes {
		change(made)
	}
	return made
}

// TestRemoveStrays: a replica that is replaced may create a ManagedResource after the deletion of its
// Extension has ended. Its event, or that of a start, leads to its removal, and that of the Secrets.
func TestRemoveStrays(t *testing.T) {
	drops := func(resource *gardener.ManagedResource) { keep := false; resource.Spec.KeepObjects = &keep }
	foreign := func(resource *gardener.ManagedResource) { resource.Labels = nil }
	other := func(e *gardener.Extension) { e.Spec.Type = "other" }
	for _, test := range []struct {
		reason string
		// cached is what the cache shows beside the ManagedResource, and stored is what there is.
		cached, stored   *gardener.Extension
		resource         *gardener.ManagedResource
		enqueued, leaves bool
	}{
		{"no Extension is left that would remove it", nil, nil, stray(), true, true},
		{"an Extension of another type does not know it", extension(other), extension(other), stray(), true, true},
		{"its objects stay in the shoot, whatever it says", nil, nil, stray(drops), true, true},
		{"another program has made it", nil, nil, stray(foreign), true, false},
		{"an Extension that no cache shows yet has it", nil, extension(), stray(), true, false},
		{"the reconcile of its Extension looks after it", extension(), extension(), stray(), false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			secret, err := managed.Piece{Name: ConfigName}.Secrets(at.Namespace)
			if err != nil {
				t.Fatal(err)
			}
			s := newSeed(t, extension(), test.resource, secret[0])
			s.have(t, test.stored)
			api := s.Client
			s.Client = interceptor.NewClient(api.(client.WithWatch), interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					shown, is := list.(*gardener.ExtensionList)
					if is && test.cached != nil {
						shown.Items = []gardener.Extension{*test.cached}
					}
					if is {
						return nil
					}
					return c.List(ctx, list, options...)
				},
			})
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			t.Cleanup(queue.ShutDown)
			s.OnManagedResource().Create(t.Context(), event.CreateEvent{Object: test.resource, IsInInitialList: true}, queue)
			if enqueued := queue.Len() > 0; enqueued != test.enqueued {
				t.Fatalf("enqueued: %t", enqueued)
			}
			if !test.enqueued {
				return
			}
			request, _ := queue.Get()
			if _, err := s.Reconcile(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			left := &gardener.ManagedResource{}
			if err := api.Get(t.Context(), client.ObjectKeyFromObject(test.resource), left); err != nil {
				t.Fatal(err)
			}
			if going := left.DeletionTimestamp != nil; going != test.leaves || going && !*left.Spec.KeepObjects {
				t.Errorf("it is being deleted: %t, and keeps its objects: %t", going, *left.Spec.KeepObjects)
			}
			if err := api.Get(t.Context(), client.ObjectKeyFromObject(secret[0]), secret[0]); apierrors.IsNotFound(err) != test.leaves {
				t.Errorf("its Secret: %v", err)
			}
		})
	}
}

// TestRemoveStrayToken: so does the Secret by which such a replica asks for a token, with no ManagedResource
// beside it.
func TestRemoveStrayToken(t *testing.T) {
	for _, test := range []struct {
		reason    string
		extension *gardener.Extension
		enqueued  bool
	}{
		{"no Extension is left that would remove it", nil, true},
		{"its Extension uses it", extension(), false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			token := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: at.Namespace, Name: access.TokenSecret}}
			s := newSeed(t, extension(), token)
			s.have(t, test.extension)
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			t.Cleanup(queue.ShutDown)
			s.OnReference().Create(t.Context(), event.CreateEvent{Object: token, IsInInitialList: true}, queue)
			if enqueued := queue.Len() > 0; enqueued != test.enqueued {
				t.Fatalf("enqueued: %t", enqueued)
			}
			if !test.enqueued {
				return
			}
			request, _ := queue.Get()
			if _, err := s.Reconcile(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(token), token); !apierrors.IsNotFound(err) {
				t.Errorf("the Secret stays: %v", err)
			}
		})
	}
}

// have replaces the Extension of a seed, or deletes it.
func (s *seed) have(t *testing.T, e *gardener.Extension) {
	t.Helper()
	before := s.stored(t)
	before.Finalizers = nil
	err := errors.Join(s.Client.Update(t.Context(), before), client.IgnoreNotFound(s.Client.Delete(t.Context(), before)))
	if e != nil {
		e = e.DeepCopy()
		e.ResourceVersion, e.Namespace, e.Name = "", at.Namespace, at.Name
		err = errors.Join(err, s.Client.Create(t.Context(), e))
	}
	if err != nil {
		t.Fatal(err)
	}
}
