package lifecycle

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/install"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

// past is a cache that shows one Extension as it was.
type past struct {
	client.Reader
	shown *gardener.Extension
}

func (p past) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	p.shown.DeepCopyInto(object.(*gardener.Extension))
	return nil
}

// TestSecondErrorOfAPast: the error that the cache still shows is reported again, because there was
// another one in between. It would not be reported later.
func TestSecondErrorOfAPast(t *testing.T) {
	s := newSeed(t, created(), cluster(plainShoot))
	wrong := func(manifestsFail error, required bool, says string) {
		t.Helper()
		s.Flux.Manifests, s.RequireConfig = manifests{manifestsFail}, required
		if _, err := s.look(t); err == nil {
			t.Fatal("no error")
		}
		if reported := s.stored(t).Status.LastError; reported == nil || !strings.Contains(reported.Description, says) {
			t.Errorf("the error is %+v, want one of %s", reported, says)
		}
	}
	wrong(install.ErrVersion, false, "make the manifests")
	s.extensionsNow.Cache = past{s.Client, s.stored(t)}
	wrong(nil, true, "onfig")
	wrong(install.ErrVersion, false, "make the manifests")
}

// TestErrorAfterALostAnswer: an error whose report had no answer is replaced by the next one, although
// the cache shows that one still, from before. No event would lead to another report.
func TestErrorAfterALostAnswer(t *testing.T) {
	s := newSeed(t, created(), cluster(plainShoot))
	lost := false
	s.Client = interceptor.NewClient(s.Client.(client.WithWatch), interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			err := c.SubResource(name).Patch(ctx, object, patch, options...)
			if lost {
				return errors.Join(err, errors.New("connection reset by peer"))
			}
			return err
		},
	})
	wrong := func(manifestsFail error, required bool) {
		t.Helper()
		s.Flux.Manifests, s.RequireConfig = manifests{manifestsFail}, required
		if _, err := s.look(t); err == nil {
			t.Fatal("no error")
		}
	}
	wrong(install.ErrVersion, false)
	s.extensionsNow.Cache = past{s.Client, s.stored(t)}
	lost = true
	wrong(nil, true)
	lost = false
	if is := s.stored(t).Status.LastError.Description; strings.Contains(is, "make the manifests") {
		t.Fatalf("the report has not arrived: %s", is)
	}
	wrong(install.ErrVersion, false)
	if is := s.stored(t).Status.LastError.Description; !strings.Contains(is, "make the manifests") {
		t.Errorf("the error is %q, want that of the last attempt", is)
	}
}

// TestChangeWhileItIsRead: a change in a project during the reconcile of a shoot enqueues the
// shoot, though its status does not name the project yet.
func TestChangeWhileItIsRead(t *testing.T) {
	for _, found := range []bool{false, true} {
		s := newSeed(t, created(), cluster(plainShoot))
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		t.Cleanup(queue.ShutDown)
		wake := &Wake{owner: s.Reconciler, queue: queue}
		scheme := runtime.NewScheme()
		if err := corev1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		s.Systems.Garden = &access.Garden{Client: fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
				err := c.Get(ctx, key, object, options...)
				wake.Changed(access.Change{Namespace: key.Namespace, Found: found})
				return err
			},
		}).Build()}
		if _, err := s.look(t); err != nil {
			t.Fatal(err)
		}
		if queue.Len() != 1 {
			t.Errorf("%d Extensions are enqueued, want 1 (existed when the watch began: %t)", queue.Len(), found)
		}
	}
}

// TestConcerned: which Extensions a change in the garden enqueues.
func TestConcerned(t *testing.T) {
	known := func(namespace string, private bool) *gardener.Extension {
		e := extension()
		e.Namespace, e.Name = at.Namespace, at.Name
		e.Status.ProviderStatus = state.Status{ProjectNamespace: namespace, PrivateSource: private}.Encode()
		return e
	}
	configuration, credentials := access.Change{Namespace: "garden-lab"}, access.Change{Namespace: "garden-lab", Credentials: true}
	there := access.Change{Namespace: "garden-lab", Found: true}
	for _, test := range []struct {
		e      *gardener.Extension
		looks  func(*projects, *gardener.Extension)
		change access.Change
		want   bool
		reason string
	}{
		{known("garden-lab", false), nil, configuration, true, "its status says so"},
		{known("garden-lab", false), nil, there, false, "a start enqueues no Extension: the resync finds missed changes"},
		{known("garden-other", false), nil, configuration, false, "another project"},
		{known("", false), nil, configuration, false, "it was never looked at, and will be"},
		{known("garden-lab", false), nil, credentials, false, "a public source needs none"},
		{known("garden-lab", true), nil, credentials, true, "a private source does"},
		{known("", false), func(p *projects, e *gardener.Extension) { p.enter(e, "garden-lab") }, configuration, true, "it is about to be read"},
		{known("", false), func(p *projects, e *gardener.Extension) { p.enter(e, "garden-lab") }, there, true, "it may have been read before watching began"},
		{known("garden-lab", true), func(p *projects, e *gardener.Extension) { p.enter(e, "garden-lab") }, credentials, true, "as the status says, until the configuration was read"},
		{known("garden-lab", false), func(p *projects, e *gardener.Extension) { p.enter(e, "garden-lab"); p.needs(e, true) }, credentials, true, "credentials are about to be read"},
		{known("garden-lab", true), func(p *projects, e *gardener.Extension) { p.enter(e, "garden-lab"); p.needs(e, false) }, credentials, false, "it is public now"},
		{known("", false), func(p *projects, e *gardener.Extension) {
			p.enter(e, "garden-lab")
			p.forget(client.ObjectKeyFromObject(e))
		}, configuration, false, "the Extension is deleted, and a new one of the name will be reconciled"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			p := &projects{}
			if test.looks != nil {
				test.looks(p, test.e)
			}
			if got := p.concerned(test.e, test.change); got != test.want {
				t.Errorf("concerned: %t", got)
			}
		})
	}
}

// TestForgetsProjects: records of deleted Extensions are dropped.
func TestForgetsProjects(t *testing.T) {
	s := newSeed(t, created(), cluster(plainShoot))
	if _, err := s.look(t); err != nil || len(s.projects.of) != 1 {
		t.Fatal(err, s.projects.of)
	}
	e := s.stored(t)
	e.Finalizers = nil
	if err := errors.Join(s.Client.Update(t.Context(), e), client.IgnoreNotFound(s.Client.Delete(t.Context(), e))); err != nil {
		t.Fatal(err)
	}
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(queue.ShutDown)
	s.OnExtension().Delete(t.Context(), event.DeleteEvent{Object: e}, queue)
	if queue.Len() != 1 {
		t.Error("its deletion triggers no reconcile")
	}
	if _, err := s.look(t); err != nil || len(s.projects.of) != 0 {
		t.Error(err, s.projects.of)
	}
}

// TestCredentialsThatAreAboutToBeRead: a private source is known as such before its Secret
// is read.
func TestCredentialsThatAreAboutToBeRead(t *testing.T) {
	s := newSeed(t, created(), cluster(plainShoot))
	now := &run{snapshot: snapshot{e: s.stored(t), shoot: &gardener.Shoot{}}}
	s.projects.enter(now.e, "garden-lab")
	private := config.Default()
	private.Source = &config.Source{Private: true}
	// There is nothing to read, which is an error of the owner.
	_, _ = s.credentials(t.Context(), now, private, state.State{}, "")
	if !s.projects.concerned(now.e, access.Change{Namespace: "garden-lab", Credentials: true}) {
		t.Error("a change of the credentials would be missed")
	}
	if found, err := s.credentials(t.Context(), now, config.Default(), state.State{}, ""); err != nil || found != nil {
		t.Fatal(found, err)
	}
	if s.projects.concerned(now.e, access.Change{Namespace: "garden-lab", Credentials: true}) {
		t.Error("a public source is enqueued for credentials")
	}
}
