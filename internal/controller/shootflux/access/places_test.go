package access

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/sourcesecret"
)

// forbidden is a cluster that lets nothing be written.
func forbidden(objects ...client.Object) client.Client {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "a", errors.New("no"))
	return fake.NewClientBuilder().WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return refused },
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error { return refused },
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return refused },
	}).Build()
}

func secretIn(namespace, name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// TestStore: a key is stored where it belongs, under the name of that place, and never replaces a
// key that another writer has stored first.
func TestStore(t *testing.T) {
	inGarden, onSeed := secretIn("garden-lab", config.SourceSecret), secretIn("shoot--lab", sourcesecret.SeedName)
	tests := []struct {
		reason       string
		place        sourcesecret.Place
		seed, garden client.Client
		fails        func(error) bool
		says         string
	}{
		{"on the seed", sourcesecret.Seed, fake.NewFakeClient(), nil, nil, ""},
		{"in the project", sourcesecret.Garden, nil, fake.NewFakeClient(), nil, ""},
		{"another writer was faster on the seed", sourcesecret.Seed, fake.NewFakeClient(onSeed), nil, apierrors.IsConflict, ""},
		{"another writer was faster in the project", sourcesecret.Garden, nil, fake.NewFakeClient(inGarden), apierrors.IsConflict, ""},
		{"the garden does not allow it", sourcesecret.Garden, nil, forbidden(), apierrors.IsForbidden, "create Secret garden-lab/" + config.SourceSecret + " in the garden"},
		{"the seed does not allow it", sourcesecret.Seed, forbidden(), nil, apierrors.IsForbidden, "create Secret shoot--lab/" + sourcesecret.SeedName + " of the seed"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			places := Secrets{Seed: test.seed, Namespace: "shoot--lab", Garden: &Garden{test.garden}, Project: "garden-lab"}
			made := &corev1.Secret{Data: map[string][]byte{"identity": []byte("hunter2hunter2")}}
			err := places.Store(t.Context(), test.place, made)
			if (err != nil) != (test.fails != nil) || err != nil && (!test.fails(err) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "hunter2")) {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				return
			}
			read, found := places.OfSeed, onSeed
			if test.place == sourcesecret.Garden {
				read, found = places.OfProject, inGarden
			}
			stored, err := read(t.Context())
			if err != nil || client.ObjectKeyFromObject(stored) != client.ObjectKeyFromObject(found) {
				t.Errorf("stored as %v: %v", stored, err)
			}
		})
	}
	t.Run("a key that was there is changed, not made again", func(t *testing.T) {
		places := Secrets{Seed: fake.NewFakeClient(onSeed.DeepCopy()), Namespace: "shoot--lab"}
		stored, err := places.OfSeed(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stored.Data = map[string][]byte{"identity": []byte("new")}
		if err := places.Store(t.Context(), sourcesecret.Seed, stored); err != nil {
			t.Fatal(err)
		}
		if again, err := places.OfSeed(t.Context()); err != nil || string(again.Data["identity"]) != "new" {
			t.Errorf("%v, %v", again, err)
		}
	})
}

// TestPlacesThatAreNotThere: who has no access to the garden hears that, not that nothing
// is there.
func TestPlacesThatAreNotThere(t *testing.T) {
	secrets, maps := Secrets{Seed: fake.NewFakeClient(), Namespace: "shoot--lab"}, ConfigMaps{Seed: fake.NewFakeClient(), Namespace: "shoot--lab"}
	open := &Garden{fake.NewFakeClient()}
	tests := []struct {
		reason string
		read   func() error
		is     func(error) bool
		says   string
	}{
		{"no access, for a Secret", func() error { _, err := secrets.OfProject(t.Context()); return err }, func(err error) bool { return errors.Is(err, config.ErrNoGarden) }, ""},
		{"no access, for a ConfigMap", func() error { _, err := maps.OfProject(t.Context(), "a"); return err }, func(err error) bool { return errors.Is(err, config.ErrNoGarden) }, ""},
		{"nothing in the project", func() error {
			_, err := Secrets{Garden: open, Project: "garden-lab"}.OfProject(t.Context())
			return err
		}, apierrors.IsNotFound, "read Secret garden-lab/"},
		{"no configuration in the project", func() error {
			_, err := ConfigMaps{Garden: open, Project: "garden-lab"}.OfProject(t.Context(), "a")
			return err
		}, apierrors.IsNotFound, "read ConfigMap garden-lab/a in the garden"},
		{"gardenlet has not copied it", func() error { _, err := secrets.Copied(t.Context(), "a"); return err }, apierrors.IsNotFound, "read Secret shoot--lab/ref-a of the seed"},
		{"nor this", func() error { _, err := maps.Copied(t.Context(), "a"); return err }, apierrors.IsNotFound, "read ConfigMap shoot--lab/ref-a of the seed"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if err := test.read(); err == nil || !test.is(err) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestPublish: people find the key where the garden allows it; where it does not, that is
// no failure.
func TestPublish(t *testing.T) {
	published := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "garden-lab", Name: PublicKeyConfigMap}, Data: map[string]string{"publicKey": "old"}}
	for _, test := range []struct {
		reason string
		garden *Garden
		want   string
	}{
		{"for the first time", &Garden{fake.NewFakeClient()}, "ssh-ed25519 AAAA"},
		{"a published key is replaced after a rotation", &Garden{fake.NewFakeClient(published)}, "ssh-ed25519 AAAA"},
		{"the garden does not allow it", &Garden{forbidden(published)}, "old"},
		{"no access to the garden", nil, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if err := (Secrets{Garden: test.garden, Project: "garden-lab"}).Publish(t.Context(), "ssh-ed25519 AAAA"); err != nil {
				t.Fatal(err)
			}
			if test.garden == nil {
				return
			}
			found := &corev1.ConfigMap{}
			if err := test.garden.Client.Get(t.Context(), client.ObjectKeyFromObject(published), found); err != nil || found.Data["publicKey"] != test.want {
				t.Errorf("%v, %v", found.Data, err)
			}
		})
	}
}

// TestTokens: who looks into a shoot asks for a token first, and says what is missing
// until it is there.
func TestTokens(t *testing.T) {
	token := secretIn("shoot--lab", TokenSecret)
	full := token.DeepCopy()
	full.Data = map[string][]byte{"token": []byte("hunter2hunter2")}
	broken := secretIn("shoot--lab", "generic")
	broken.Data = map[string][]byte{"kubeconfig": []byte("{hunter2hunter2")}
	for _, test := range []struct {
		reason     string
		there      []client.Object
		kubeconfig string
		notYet     bool
		says       string
	}{
		{"a token was not requested", nil, "generic", true, "read Secret shoot--lab/" + TokenSecret},
		{"the token is on its way", []client.Object{token}, "generic", true, "has no token yet"},
		{"the Cluster does not say where the shoot is", []client.Object{full}, "", true, "does not say where the shoot is"},
		{"the address is not there yet", []client.Object{full}, "generic", true, "read Secret shoot--lab/generic"},
		{"an address that is not valid", []client.Object{full, broken}, "generic", false, "the Secret shoot--lab/generic: the kubeconfig cannot be decoded"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			seed := fake.NewClientBuilder().WithObjects(test.there...).Build()
			_, said, err := (&Shoots{Seed: seed}).Look(t.Context(), "shoot--lab", test.kubeconfig, &unstructured.Unstructured{})
			if err != nil {
				said += err.Error()
			}
			if (err == nil) != test.notYet || !strings.Contains(said, test.says) || strings.Contains(said, "hunter2") {
				t.Fatalf("got %q, %v", said, err)
			}
			asked := &corev1.Secret{}
			if err := seed.Get(t.Context(), client.ObjectKeyFromObject(token), asked); err != nil {
				t.Errorf("the token was not requested: %v", err)
			}
		})
	}
	t.Run("a request that is there is left alone", func(t *testing.T) {
		seed := fake.NewFakeClient(full.DeepCopy())
		if err := (&Shoots{Seed: seed}).Ask(t.Context(), "shoot--lab"); err != nil {
			t.Fatal(err)
		}
		asked := &corev1.Secret{}
		if err := seed.Get(t.Context(), client.ObjectKeyFromObject(full), asked); err != nil || len(asked.Data["token"]) == 0 {
			t.Errorf("%v, %v", asked, err)
		}
	})
	t.Run("forgetting what is not there is no failure", func(t *testing.T) {
		if err := (&Shoots{Seed: fake.NewFakeClient()}).Forget(t.Context(), "shoot--lab"); err != nil {
			t.Error(err)
		}
		if err := (&Shoots{Seed: forbidden()}).Forget(t.Context(), "shoot--lab"); !apierrors.IsForbidden(err) {
			t.Errorf("got %v", err)
		}
	})
}
