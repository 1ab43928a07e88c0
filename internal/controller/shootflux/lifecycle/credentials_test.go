package lifecycle

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/internal/controller/shootflux/access"
	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

const hostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"

// gardenOf is a garden in memory.
func gardenOf(t *testing.T, funcs interceptor.Funcs) *access.Garden {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return &access.Garden{Client: fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(funcs).Build()}
}

// TestPublishesAgain: a key that was stored but could not be shown to people is shown by
// the next run, which makes no other one; and then no more.
func TestPublishesAgain(t *testing.T) {
	e := created()
	generating(e)
	s := newSeed(t, e, cluster(plainShoot))
	down, published := errors.New("no answer"), 0
	s.Systems.Garden = gardenOf(t, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
		if _, is := object.(*corev1.ConfigMap); is {
			published++
			if down != nil {
				return down
			}
		}
		return c.Create(ctx, object, options...)
	}})
	if _, err := s.look(t); !errors.Is(err, down) || !strings.Contains(s.emitted(), "SSHKeyGenerated") {
		t.Fatal(err)
	}
	down = nil
	if _, err := s.look(t); err != nil || published != 2 || strings.Contains(s.emitted(), "SSHKeyGenerated") {
		t.Fatalf("%v, published %d times", err, published)
	}
	shown, key := &corev1.ConfigMap{}, state.ReadStatus(s.stored(t)).PublicKey
	if err := s.Systems.Garden.Client.Get(t.Context(), client.ObjectKey{Namespace: "garden-lab", Name: access.PublicKeyConfigMap}, shown); err != nil || key == "" || shown.Data["publicKey"] != key {
		t.Errorf("%v, %v, want %s", shown.Data, err, key)
	}
	if _, err := s.look(t); err != nil || published != 2 {
		t.Errorf("%v, published %d times", err, published)
	}
}

// TestPublishesNoEmptyKey: who brings credentials to the project after a key was generated
// for the shoot alone finds nothing beside them.
func TestPublishesNoEmptyKey(t *testing.T) {
	e := extension(generating)
	e.Status.ProviderStatus = state.Status{PublicKey: "ssh-ed25519 AAAA"}.Encode()
	s := newSeed(t, e, cluster(plainShoot))
	s.Systems.Garden = gardenOf(t, interceptor.Funcs{})
	brought := &corev1.Secret{Data: map[string][]byte{"identity": []byte("theirs"), "known_hosts": []byte("git.example.org " + hostKey)}}
	brought.Namespace, brought.Name = "garden-lab", config.SourceSecret
	if err := s.Systems.Garden.Client.Create(t.Context(), brought); err != nil {
		t.Fatal(err)
	}
	if _, err := s.look(t); err != nil {
		t.Fatal(err)
	}
	shown := &corev1.ConfigMap{}
	if err := s.Systems.Garden.Client.Get(t.Context(), client.ObjectKey{Namespace: "garden-lab", Name: access.PublicKeyConfigMap}, shown); !apierrors.IsNotFound(err) {
		t.Errorf("%v, %v", shown.Data, err)
	}
}

// TestPrepareWritesNothing: what a run has to do is known before it does any of it.
func TestPrepareWritesNothing(t *testing.T) {
	s := newSeed(t, extension(generating), cluster(`,"annotations":{"`+RequestAnnotation+`":"`+RequestRotate+`"}},"spec":{}`))
	s.Systems.Garden = gardenOf(t, interceptor.Funcs{})
	if _, err := s.look(t); err != nil || !strings.Contains(s.emitted(), "SSHKeyGenerated") {
		t.Fatal(err)
	}
	writes := func(context.Context, client.WithWatch, client.Object) error {
		t.Error("it writes")
		return nil
	}
	s.Systems.Garden.Client = interceptor.NewClient(s.Systems.Garden.Client.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			return writes(ctx, c, object)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, _ ...client.UpdateOption) error {
			return writes(ctx, c, object)
		},
	})
	e := s.stored(t)
	e.Status.State = nil // the request is as if it had not been served
	now := &run{snapshot: snapshot{e: e, kind: gardener.Reconcile}}
	s.observeShoot(t.Context(), now)
	found, err := s.prepare(t.Context(), now)
	if err != nil || found.asked != RequestRotate || found.credentials.due == nil || !found.credentials.due.NewKey {
		t.Fatalf("%+v, %v", found, err)
	}
	if events := s.emitted(); events != "" || s.stored(t).Status.State == nil {
		t.Errorf("it reports %q, or writes the Extension", events)
	}
}

// TestRotatesOnce: who asks for another key gets one, whatever goes wrong after it was made:
// people register the first one that they hear of.
func TestRotatesOnce(t *testing.T) {
	for _, test := range []struct {
		reason string
		// wrong is what happens when the garden is written to.
		wrong func(t *testing.T, s *seed, written client.Object) error
	}{
		{"another client changes the Extension while the key is made", func(t *testing.T, s *seed, written client.Object) error {
			if _, is := written.(*corev1.Secret); !is {
				return nil
			}
			changed := s.stored(t)
			changed.Labels = map[string]string{"health": written.GetResourceVersion()}
			return s.Client.Update(t.Context(), changed)
		}},
		{"people cannot be shown it", func(_ *testing.T, _ *seed, written client.Object) error {
			if _, is := written.(*corev1.ConfigMap); is {
				return errors.New("no answer")
			}
			return nil
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := newSeed(t, extension(generating), cluster(plainShoot))
			keys := 0
			s.Systems.Garden = gardenOf(t, interceptor.Funcs{Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
				if _, is := object.(*corev1.Secret); is {
					keys++
				}
				if err := test.wrong(t, s, object); err != nil {
					return err
				}
				return c.Update(ctx, object, options...)
			}})
			if _, err := s.look(t); err != nil || !strings.Contains(s.emitted(), "SSHKeyGenerated") {
				t.Fatalf("the key to rotate is missing: %v", err)
			}
			asking := cluster(`,"annotations":{"` + RequestAnnotation + `":"` + RequestRotate + `"}},"spec":{}`)
			if err := errors.Join(s.Client.Delete(t.Context(), asking), s.Client.Create(t.Context(), asking)); err != nil {
				t.Fatal(err)
			}
			s.extensionsNow.Cache = past{s.Client, s.stored(t)}
			for range 3 {
				_, _ = s.look(t) // what went wrong is told in the status, if at all
			}
			remembered, err := state.Read(s.stored(t))
			if emitted := s.emitted(); keys != 1 || strings.Count(emitted, "SSHKeyGenerated") != 1 || err != nil || remembered.HandledOperation != RequestRotate {
				t.Errorf("%d keys, events %q, remembered %+v, %v", keys, emitted, remembered, err)
			}
		})
	}
}

// TestRotatesAgain: who asks once more, after the request was taken away, gets one more key,
// also for a shoot that sleeps all the time.
func TestRotatesAgain(t *testing.T) {
	s := newSeed(t, extension(generating), cluster(plainShoot))
	keys := 0
	s.Systems.Garden = gardenOf(t, interceptor.Funcs{Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
		if _, is := object.(*corev1.Secret); is {
			keys++
		}
		return c.Update(ctx, object, options...)
	}})
	for i, step := range []struct {
		asked string
		keys  int
	}{{"", 0}, {RequestRotate, 1}, {RequestRotate, 1}, {"", 1}, {RequestRotate, 2}, {RequestRotate, 2}} {
		shoot := cluster(`,"annotations":{"` + RequestAnnotation + `":"` + step.asked + `"}},"spec":{"hibernation":{"enabled":true}}`)
		if err := errors.Join(s.Client.Delete(t.Context(), shoot), s.Client.Create(t.Context(), shoot)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.look(t); err != nil || keys != step.keys {
			t.Errorf("step %d: %d keys, want %d: %v", i, keys, step.keys, err)
		}
	}
}

// generating lets an Extension have a source for which a key is generated.
func generating(e *gardener.Extension) {
	e.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"flux.extensions.gardener.cloud/v1alpha1","kind":"FluxConfig",
		"source":{"template":{"spec":{"url":"ssh://git@git.example.org/lab","ref":{"branch":"main"}}},"generateSSHKey":true,"knownHosts":"git.example.org ` + hostKey + `"},
		"kustomization":{"template":{"spec":{"path":"./"}}}}`)}
}
