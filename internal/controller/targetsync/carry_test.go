package targetsync

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/targetsync/syncplan"
)

// word is a value that no message may repeat.
const word = "hunter2hunter2"

// runOn is a run on a resource cluster with some objects, whose requests fail as said.
func runOn(t *testing.T, fails interceptor.Funcs, objects ...client.Object) *run {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	stored := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(fails).Build()
	known := (&memories{}).of(key, "u")
	// The client of the server asks the API server for the metadata of Secrets.
	uncached := interceptor.NewClient(stored, interceptor.Funcs{
		List: func(ctx context.Context, stored client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, ok := list.(*metav1.PartialObjectMetadataList); ok {
				t.Error("the metadata of Secrets is read from the API server")
			}
			return stored.List(ctx, list, options...)
		},
	})
	return &run{Reconciler: &Reconciler{Client: uncached, Reader: stored, metadata: stored, Now: func() time.Time { return now }}, sync: fleet(), memory: known, gate: newGate()}
}

func ownSecret(change func(*corev1.Secret)) *corev1.Secret {
	secret := &corev1.Secret{Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"kubeconfig": []byte("old")}}
	secret.Namespace, secret.Name, secret.Labels = "blue", "eu", map[string]string{v1alpha1.TargetSyncLabel: v1alpha1.TargetSyncLabelValue}
	change(secret)
	return secret
}

func unchanged[T any](T) {}

func ownTarget(change func(*v1alpha1.Target)) *v1alpha1.Target {
	target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "eu", Labels: map[string]string{v1alpha1.TargetSyncLabel: v1alpha1.TargetSyncLabelValue}}}
	change(target)
	return target
}

// refuses lets one kind of request about one kind of object fail.
func refuses(verb, kind string, err error) interceptor.Funcs {
	is := func(object client.Object) bool { return strings.HasSuffix(fmt.Sprintf("%T", object), "."+kind) }
	funcs := interceptor.Funcs{}
	switch verb {
	case "get":
		funcs.Get = func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if is(object) {
				return err
			}
			return c.Get(ctx, key, object, options...)
		}
	case "create":
		funcs.Create = func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if is(object) {
				return err
			}
			return c.Create(ctx, object, options...)
		}
	case "update":
		funcs.Update = func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			if is(object) {
				return err
			}
			return c.Update(ctx, object, options...)
		}
	case "delete":
		funcs.Delete = func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if is(object) {
				return err
			}
			return c.Delete(ctx, object, options...)
		}
	}
	return funcs
}

// TestCopy: a Secret of the source and its Target are written as a pair, what belongs to
// others stays, and no message repeats what was copied.
func TestCopy(t *testing.T) {
	secrets := schema.GroupResource{Resource: "secrets"}
	seen := map[string]syncplan.Secret{"eu": {Ours: true}}
	tests := []struct {
		reason  string
		there   []client.Object
		secrets map[string]syncplan.Secret
		fails   interceptor.Funcs
		says    string
		content string
	}{
		{"nothing was there", nil, nil, interceptor.Funcs{}, "", word},
		{"an older copy was there", []client.Object{ownSecret(unchanged), ownTarget(unchanged)}, seen, interceptor.Funcs{}, "", word},
		{"a Secret that was deleted since it was read is created again", nil, seen, interceptor.Funcs{}, "", word},
		{"a Secret with a type that the source has chosen before is replaced", []client.Object{ownSecret(func(s *corev1.Secret) { s.Type = "example.test/other" })}, seen, interceptor.Funcs{}, "", word},
		{"a foreign Secret of the name is not overwritten", []client.Object{ownSecret(func(s *corev1.Secret) { s.Labels = nil })}, nil, interceptor.Funcs{}, "Secret blue/eu belongs to another owner", "old"},
		{"our own Secret that the cache does not show yet", []client.Object{ownSecret(unchanged)}, nil, interceptor.Funcs{}, "", word},
		{"a Secret that became foreign since it was read is not overwritten", []client.Object{ownSecret(func(s *corev1.Secret) { s.Labels = nil })}, seen, interceptor.Funcs{}, "Secret blue/eu belongs to another owner", "old"},
		{"a foreign Target of the name is not overwritten", []client.Object{ownTarget(func(target *v1alpha1.Target) { target.Labels = nil })}, nil, interceptor.Funcs{}, "Target blue/eu belongs to another owner", word},
		{"our own Target that the cache does not show yet", []client.Object{ownTarget(unchanged)}, nil, interceptor.Funcs{}, "", word},
		{"a right is missing to create", nil, nil, refuses("create", "Secret", apierrors.NewForbidden(secrets, "eu", errors.New(word))), "the API server answers Forbidden (403)", ""},
		{"a webhook quotes what it refuses", []client.Object{ownSecret(unchanged)}, seen, refuses("update", "Secret", apierrors.NewBadRequest(word)), "the API server answers BadRequest (400)", "old"},
		{"a Secret that another client changes at the same time is a conflict", []client.Object{ownSecret(unchanged)}, seen, refuses("update", "Secret", apierrors.NewConflict(secrets, "eu", errors.New(word))), "the API server answers Conflict (409)", "old"},
		{"the Target is refused", nil, nil, refuses("create", "Target", apierrors.NewForbidden(schema.GroupResource{Resource: "targets"}, "eu", errors.New("no"))), "could not create or update target; target: eu", word},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			r := runOn(t, test.fails, test.there...)
			s := syncplan.Step{Do: syncplan.CopySecret, Name: "eu", Of: copiedOf(t, word)}
			o := &outcome{}
			r.carryOut(t.Context(), syncplan.World{Secrets: test.secrets}, syncplan.Plan{Steps: []syncplan.Step{s}}, o)
			if (o.failed == 0) != (test.says == "") {
				t.Fatalf("got %+v", o)
			}
			if test.says != "" && (!strings.Contains(o.items[0].Message, test.says) || strings.Contains(o.items[0].Message, word) || !strings.Contains(o.items[0].Message, "eu")) {
				t.Errorf("it says %q", o.items[0].Message)
			}
			stored := &corev1.Secret{}
			err := r.Client.Get(t.Context(), client.ObjectKey{Namespace: "blue", Name: "eu"}, stored)
			if client.IgnoreNotFound(err) != nil || string(stored.Data["note"])+string(stored.Data["kubeconfig"]) == "" != (test.content == "") || test.content != "" && !strings.Contains(string(stored.Data["note"])+string(stored.Data["kubeconfig"]), test.content) {
				t.Errorf("stored %v, %v", stored.Data, err)
			}
			if test.says == "" && (stored.Type != corev1.SecretTypeOpaque || r.memory.secrets["eu"].Version != stored.ResourceVersion) {
				t.Errorf("type %s; what is remembered is not what is stored", stored.Type)
			}
		})
	}
}

// TestRemove: objects without a counterpart in the source are deleted in the version that was read;
// a failure is reported, and does not fail the others.
func TestRemove(t *testing.T) {
	secret, target := ownSecret(unchanged), ownTarget(unchanged)
	other := ownTarget(func(target *v1alpha1.Target) { target.Name = "us" })
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "targets"}, "eu", errors.New("no"))
	for _, test := range []struct {
		reason  string
		fails   interceptor.Funcs
		removed int
		failed  int
		left    bool
	}{
		{"the Secret and the Target are deleted", interceptor.Funcs{}, 2, 0, false},
		{"a Target that may not be removed keeps its Secret", refuses("delete", "Target", forbidden), 0, 2, true},
		{"a Secret that may not be removed is told", refuses("delete", "Secret", forbidden), 1, 1, true},
		{"an object that is deleted already is not a failure", refuses("delete", "Secret", apierrors.NewNotFound(schema.GroupResource{}, "eu")), 2, 0, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			r := runOn(t, test.fails, secret.DeepCopy(), target.DeepCopy(), other.DeepCopy())
			w := syncplan.World{Targets: map[string]*v1alpha1.Target{}, Secrets: map[string]syncplan.Secret{}}
			for _, name := range []string{"eu", "us"} {
				seen := &v1alpha1.Target{}
				if err := r.Client.Get(t.Context(), client.ObjectKey{Namespace: "blue", Name: name}, seen); err != nil {
					t.Fatal(err)
				}
				w.Targets[name] = seen
			}
			stored := &corev1.Secret{}
			if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), stored); err != nil {
				t.Fatal(err)
			}
			w.Secrets["eu"] = syncplan.Secret{Ours: true, Version: stored.ResourceVersion}
			o := &outcome{}
			r.remove(t.Context(), w, []string{"eu", "us"}, o)
			if len(o.removed) != test.removed || len(o.removal) != test.failed || o.wrote != (test.removed > 0) {
				t.Errorf("removed %v, failed %v", o.removed, o.removal)
			}
			for _, text := range o.removal {
				if !strings.Contains(text, "which the source no longer has") {
					t.Errorf("it says %q", text)
				}
			}
			if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), stored); (err == nil) != test.left {
				t.Errorf("the Secret: %v", err)
			}
		})
	}
	t.Run("the access to the source stays, even with the label of a made Secret", func(t *testing.T) {
		access := ownSecret(func(s *corev1.Secret) { s.Name = "access" })
		r := runOn(t, interceptor.Funcs{}, access)
		if err := r.removeOne(t.Context(), syncplan.World{Secrets: map[string]syncplan.Secret{"access": {Ours: true, Version: "1"}}}, "access"); err != nil {
			t.Fatal(err)
		}
		if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(access), access); err != nil {
			t.Error(err)
		}
	})
}

// TestStepsThatDoNothing: what is skipped or refused is told with its reason, in order.
func TestStepsThatDoNothing(t *testing.T) {
	r, o := runOn(t, interceptor.Funcs{}), &outcome{}
	r.carryOut(t.Context(), syncplan.World{}, syncplan.Plan{Steps: []syncplan.Step{
		{Do: syncplan.Refuse, Name: "b", Why: "not %s"}, {Do: syncplan.Skip, Name: "a", Why: "later"}, {Do: syncplan.Keep, Name: "c"},
	}}, o)
	if o.failed != 1 || o.skipped != 1 || o.synced != 1 || o.wrote || len(o.items) != 2 {
		t.Fatalf("got %+v", o)
	}
	if o.items[0].Name != "a" || o.items[0].Message != "later" || o.items[1].Message != "not %s" {
		t.Errorf("got %+v", o.items)
	}
}

// TestGate: a cancelled run does not wait for its turn.
func TestGate(t *testing.T) {
	g := newGate()
	ended, end := context.WithCancel(t.Context())
	end()
	for range requestsAtOnce {
		g.slots <- struct{}{}
	}
	if err := g.pass(ended, func() error { t.Error("it was called"); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-g.slots
	if err := g.pass(t.Context(), func() error { return errSeveral }); !errors.Is(err, errSeveral) {
		t.Errorf("got %v", err)
	}
}

// copiedOf is a Secret of the source with a value that must not be told.
func copiedOf(t *testing.T, value string) *syncplan.Item {
	t.Helper()
	copied := &syncplan.Copies{Selects: func(string) bool { return true }}
	read, err := copied.Read(sourceSecret(value))
	if err != nil || read.Copied.Data == nil {
		t.Fatalf("%+v: %v", read.Copied, err)
	}
	return &read
}
