package lifecycle

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/internal/gardener"
	"go.landscaper.dev/internal/shootflux/access"
	"go.landscaper.dev/internal/shootflux/config"
	"go.landscaper.dev/internal/shootflux/state"
)

const hostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"

// privateSource is a repository for which a key is generated.
func privateSource() *config.Config {
	c := config.Default()
	c.Source = &config.Source{
		Private: true, GenerateSSHKey: true, URL: "ssh://git@git.example.org/lab",
		KnownHosts: "git.example.org " + hostKey,
	}
	return c
}

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
	s := newSeed(t, created(), cluster(plainShoot))
	var down error
	published := 0
	s.Garden = gardenOf(t, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
		if _, is := object.(*corev1.ConfigMap); !is {
			return c.Create(ctx, object, options...)
		}
		published++
		if down != nil {
			return down
		}
		return c.Create(ctx, object, options...)
	}})
	now := &run{e: s.stored(t), kind: gardener.Create, shoot: &gardener.Shoot{}}
	now.shoot.Namespace = "garden-lab"
	look := func() (*credentials, error) {
		return s.credentials(t.Context(), now, privateSource(), state.State{}, "")
	}
	down = errors.New("no answer")
	if _, err := look(); err == nil || !strings.Contains(s.told(), "SSHKeyGenerated") {
		t.Fatal(err)
	}
	down = nil
	found, err := look()
	if err != nil || published != 2 || s.told() != "" {
		t.Fatalf("%v, published %d times", err, published)
	}
	shown := &corev1.ConfigMap{}
	if err := s.Garden.Client.Get(t.Context(), client.ObjectKey{Namespace: "garden-lab", Name: access.PublicKeyConfigMap}, shown); err != nil || shown.Data["publicKey"] != found.publicKey {
		t.Errorf("%v, %v, want %s", shown.Data, err, found.publicKey)
	}
	now.e.Status.ProviderStatus = state.Status{PublicKey: found.publicKey}.Encode()
	if _, err := look(); err != nil || published != 2 {
		t.Errorf("%v, published %d times", err, published)
	}
}

// TestRotatesOnce: who asks for another key gets one, also if somebody else changes the
// Extension while it is made: people register the first one that they hear of.
func TestRotatesOnce(t *testing.T) {
	e := extension()
	e.Spec.ProviderConfig = &runtime.RawExtension{Raw: []byte(`{"apiVersion":"flux.extensions.gardener.cloud/v1alpha1","kind":"FluxConfig",
		"source":{"template":{"spec":{"url":"ssh://git@git.example.org/lab","ref":{"branch":"main"}}},"generateSSHKey":true,"knownHosts":"git.example.org ` + hostKey + `"},
		"kustomization":{"template":{"spec":{"path":"./"}}}}`)}
	s := newSeed(t, e, cluster(plainShoot))
	keys := 0
	s.Garden = gardenOf(t, interceptor.Funcs{Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
		if _, is := object.(*corev1.Secret); is {
			keys++
			changed := s.stored(t)
			changed.Labels = map[string]string{"health": strconv.Itoa(keys)}
			if err := s.Client.Update(ctx, changed); err != nil {
				t.Error(err)
			}
		}
		return c.Update(ctx, object, options...)
	}})
	if _, err := s.look(t); err != nil || !strings.Contains(s.told(), "SSHKeyGenerated") {
		t.Fatalf("there is no key to rotate: %v", err)
	}
	asking := cluster(`,"annotations":{"` + RequestAnnotation + `":"` + RequestRotate + `"}},"spec":{}`)
	if err := errors.Join(s.Client.Delete(t.Context(), asking), s.Client.Create(t.Context(), asking)); err != nil {
		t.Fatal(err)
	}
	s.extensionsNow.Cache = past{s.Client, s.stored(t)}
	for range 3 {
		if _, err := s.look(t); err != nil {
			t.Fatal(err)
		}
	}
	remembered, err := state.Read(s.stored(t))
	if told := s.told(); keys != 1 || strings.Count(told, "SSHKeyGenerated") != 1 || err != nil || remembered.HandledOperation != RequestRotate {
		t.Errorf("%d keys, told %q, remembered %+v, %v", keys, told, remembered, err)
	}
}
