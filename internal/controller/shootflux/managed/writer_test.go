package managed

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/runtime/expectations"
)

// seed is an API server in memory that notes what is written.
type seed struct {
	Writer
	writes []string
	// fails is what it says to a write.
	fails map[string]error
}

func newSeed(t *testing.T, objects ...client.Object) *seed {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), gardener.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	s := &seed{fails: map[string]error{}}
	note := func(verb string, object client.Object, call func() error) error {
		kind := "ManagedResource"
		if _, is := object.(*gardener.ManagedResource); !is {
			kind = "Secret"
		}
		s.writes = append(s.writes, verb+" "+kind)
		if err := s.fails[verb+" "+kind]; err != nil {
			return err
		}
		return call()
	}
	s.Client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return note("create", object, func() error { return c.Create(ctx, object, options...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			return note("patch", object, func() error { return c.Patch(ctx, object, patch, options...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return note("delete", object, func() error { return c.Delete(ctx, object, options...) })
		},
	}).Build()
	s.Read = &expectations.Reader{Cache: s.Client, API: s.Client}
	return s
}

// wrote returns what was written since the last time.
func (s *seed) wrote() string {
	text := strings.Join(s.writes, ", ")
	s.writes = nil
	return text
}

// resource changes the ManagedResource of the tests and returns it as it is stored.
func (s *seed) resource(t *testing.T, change func(*gardener.ManagedResource)) *gardener.ManagedResource {
	t.Helper()
	found, err := s.Get(t.Context(), "shoot", "piece")
	if err != nil || found == nil {
		t.Fatal(found, err)
	}
	if change != nil {
		change(found)
		if err := s.Client.Update(t.Context(), found); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func content(sizes ...int) Piece {
	piece := Piece{Name: "piece"}
	for _, size := range sizes {
		piece.Objects = append(piece.Objects, configMap("a", size))
	}
	return piece
}

// TestEnsure: contents come before who names them, nothing is written twice, and what is
// there is changed only in the version that was seen.
func TestEnsure(t *testing.T) {
	ctx, s := t.Context(), newSeed(t)
	for _, step := range []struct {
		reason  string
		change  func(*gardener.ManagedResource)
		piece   Piece
		writes  string
		changed bool
	}{
		{"a new ManagedResource", nil, content(1), "create Secret, create ManagedResource", true},
		{"an existing ManagedResource", nil, content(1), "", false},
		{"the resource manager is at it", func(r *gardener.ManagedResource) {
			r.Status.Conditions = []gardener.Condition{{Type: gardener.ResourcesApplied, Status: gardener.ConditionFalse, Reason: "ApplyFailed"}}
		}, content(1), "", false},
		{"the resource manager misses a Secret, which a garbage collection has taken", func(r *gardener.ManagedResource) {
			r.Status.Conditions[0].Reason = secretUnreadable
		}, content(1), "create Secret", false},
		{"a changed content is another Secret", nil, content(2), "create Secret, patch ManagedResource", true},
		{"the content before, whose Secret is still there", nil, content(1), "create Secret, patch ManagedResource", true},
		{"a ManagedResource that was frozen by another client is written", func(r *gardener.ManagedResource) {
			r.Annotations = map[string]string{gardener.IgnoreAnnotation: "true"}
		}, content(1), "create Secret, patch ManagedResource", true},
		{"a ManagedResource whose objects would be deleted with it is written", func(r *gardener.ManagedResource) { r.Spec.KeepObjects = nil }, content(1), "create Secret, patch ManagedResource", true},
		{"a ManagedResource without a Secret is written", func(r *gardener.ManagedResource) { r.Spec.SecretRefs = nil }, content(1), "create Secret, patch ManagedResource", true},
		{"too much for one Secret", nil, content(600<<10, 500<<10), "create Secret, create Secret, patch ManagedResource", true},
	} {
		t.Run(step.reason, func(t *testing.T) {
			if step.change != nil {
				s.resource(t, step.change)
			}
			_, changed, err := s.Ensure(ctx, "shoot", step.piece)
			if got := s.wrote(); err != nil || got != step.writes || changed != step.changed {
				t.Errorf("%q, changed: %t, %v", got, changed, err)
			}
			if holds, err := s.Holds(ctx, "shoot", step.piece); err != nil || !holds {
				t.Errorf("it does not hold what was written: %v", err)
			}
			stored := s.resource(t, nil)
			for _, reference := range stored.Spec.SecretRefs {
				if err := s.Client.Get(ctx, client.ObjectKey{Namespace: "shoot", Name: reference.Name}, &corev1.Secret{}); err != nil {
					t.Errorf("it names what is not there: %v", err)
				}
			}
			if !Judge(stored).Ours || frozen(stored) || stored.Spec.InjectLabels[gardener.NoCleanupLabel] != "true" {
				t.Errorf("%+v", stored)
			}
		})
	}
}

// TestEnsureFails: nothing names contents that could not be written, and no message has a
// value.
func TestEnsureFails(t *testing.T) {
	exists := apierrors.NewAlreadyExists(gardener.ResourcesVersion.WithResource("managedresources").GroupResource(), "piece")
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"}, "stringData": map[string]any{"a": strings.Repeat("hunter2", 1<<18)}}}
	for _, test := range []struct {
		reason string
		fails  map[string]error
		piece  Piece
		says   string
		is     func(error) bool
		writes string
	}{
		{"a Secret is refused", map[string]error{"create Secret": errors.New("no space")}, content(1), "create Secret shoot/", nil, "create Secret"},
		{"the ManagedResource is refused", map[string]error{"create ManagedResource": errors.New("no")}, content(1), "create ManagedResource shoot/piece", nil, "create Secret, create ManagedResource"},
		{"the cache does not show it yet: a newer version is under way", map[string]error{"create ManagedResource": exists}, content(1), "piece", apierrors.IsConflict, "create Secret, create ManagedResource"},
		{"a Secret that is there already has the same content", map[string]error{"create Secret": exists}, content(1), "", nil, "create Secret, create ManagedResource"},
		{"an object that is too large for a Secret", nil, Piece{Name: "piece", Objects: []*unstructured.Unstructured{secret}}, "Secret s of piece is too large", nil, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := newSeed(t)
			s.fails = test.fails
			_, changed, err := s.Ensure(t.Context(), "shoot", test.piece)
			if (err != nil) != (test.says != "") || err != nil && (!strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "hunter2") || changed) {
				t.Errorf("changed: %t, %v", changed, err)
			}
			if test.is != nil && !test.is(err) {
				t.Errorf("%v", err)
			}
			if got := s.wrote(); got != test.writes {
				t.Errorf("%q", got)
			}
		})
	}
	t.Run("a ManagedResource that is being deleted is left alone", func(t *testing.T) {
		going := &gardener.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot", Name: "piece", Finalizers: []string{"x/y"}, DeletionTimestamp: &metav1.Time{Time: metav1.Now().Time}}}
		s := newSeed(t, going)
		if standing, changed, err := s.Ensure(t.Context(), "shoot", content(1)); err != nil || changed || !standing.Going || s.wrote() != "" {
			t.Errorf("%+v, %t, %v", standing, changed, err)
		}
	})
}

// TestRemoveReadsPastTheCache: one that the cache does not show is removed nevertheless.
func TestRemoveReadsPastTheCache(t *testing.T) {
	s := newSeed(t)
	if _, _, err := s.Ensure(t.Context(), "shoot", content(1)); err != nil {
		t.Fatal(err)
	}
	// Another process may have created it, so that this one does not know of it.
	s.Read = &expectations.Reader{Cache: fake.NewClientBuilder().WithScheme(s.Client.Scheme()).Build(), API: s.Client}
	s.wrote()
	if gone, err := s.Remove(t.Context(), "shoot", "piece", true); err != nil || gone || s.wrote() != "delete ManagedResource" {
		t.Errorf("gone: %t, %v", gone, err)
	}
	if gone, err := s.Remove(t.Context(), "shoot", "piece", true); err != nil || !gone {
		t.Errorf("gone: %t, %v", gone, err)
	}
}

// TestEnsureTwiceBehindACache: contents that were there before are written again, though the
// cache does not show yet that they were replaced.
func TestEnsureTwiceBehindACache(t *testing.T) {
	s := newSeed(t)
	ensure := func(number int) {
		t.Helper()
		if _, _, err := s.Ensure(t.Context(), "shoot", content(number)); err != nil {
			t.Fatal(err)
		}
	}
	ensure(1)
	first := s.resource(t, nil)
	s.Read.Cache = fake.NewClientBuilder().WithScheme(s.Client.Scheme()).WithObjects(first).Build()
	ensure(2)
	ensure(1)
	now := &gardener.ManagedResource{}
	if err := s.Client.Get(t.Context(), client.ObjectKeyFromObject(first), now); err != nil || now.Spec.SecretRefs[0] != first.Spec.SecretRefs[0] {
		t.Errorf("it has %v, want %v: %v", now.Spec.SecretRefs, first.Spec.SecretRefs, err)
	}
}

// TestRemoveSteps: whether objects stay is written before the deletion, once, and deleted objects
// need no write.
func TestRemoveSteps(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*gardener.ManagedResource)
		keep   bool
		writes string
	}{
		{"objects that stay by default", nil, true, "delete ManagedResource"},
		{"objects that are deleted", nil, false, "patch ManagedResource, delete ManagedResource"},
		{"objects without a setting stay", func(r *gardener.ManagedResource) { r.Spec.KeepObjects = nil }, true, "patch ManagedResource, delete ManagedResource"},
		{"it is frozen, which says nothing about the end", func(r *gardener.ManagedResource) {
			r.Annotations = map[string]string{gardener.IgnoreAnnotation: "true"}
		}, true, "delete ManagedResource"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := newSeed(t)
			if _, _, err := s.Ensure(t.Context(), "shoot", content(1)); err != nil {
				t.Fatal(err)
			}
			s.resource(t, func(r *gardener.ManagedResource) {
				r.Finalizers = []string{"resources.gardener.cloud/gardener-resource-manager"}
				if test.change != nil {
					test.change(r)
				}
			})
			s.wrote()
			gone, err := s.Remove(t.Context(), "shoot", "piece", test.keep)
			if got := s.wrote(); err != nil || gone || got != test.writes {
				t.Errorf("%q, gone: %t, %v", got, gone, err)
			}
			if stored := s.resource(t, nil); *stored.Spec.KeepObjects != test.keep || stored.DeletionTimestamp == nil {
				t.Errorf("%+v", stored)
			}
			if gone, err = s.Remove(t.Context(), "shoot", "piece", test.keep); err != nil || gone || s.wrote() != "" {
				t.Errorf("it is deleted twice: %v", err)
			}
			// What was decided may change while it goes: the shoot itself is deleted now.
			if gone, err = s.Remove(t.Context(), "shoot", "piece", true); err != nil || gone || !*s.resource(t, nil).Spec.KeepObjects {
				t.Errorf("its objects hold up the shoot: %v", err)
			}
			if err := s.Abandon(t.Context(), "shoot", "piece"); err != nil {
				t.Error(err)
			}
			if gone, err = s.Remove(t.Context(), "shoot", "piece", test.keep); err != nil || !gone {
				t.Errorf("gone: %t, %v", gone, err)
			}
		})
	}
	t.Run("a ManagedResource that is not being deleted keeps its finalizers", func(t *testing.T) {
		s := newSeed(t)
		if _, _, err := s.Ensure(t.Context(), "shoot", content(1)); err != nil {
			t.Fatal(err)
		}
		s.resource(t, func(r *gardener.ManagedResource) { r.Finalizers = []string{"x/y"} })
		if err := s.Abandon(t.Context(), "shoot", "piece"); err != nil || len(s.resource(t, nil).Finalizers) != 1 {
			t.Error(err)
		}
	})
}

// TestRelease: which Flux a first implementation has installed is read from what it left,
// and what cannot be read is no error.
func TestRelease(t *testing.T) {
	for _, test := range []struct{ reason, text, want string }{
		{"as YAML", "metadata:\n  labels:\n    app.kubernetes.io/version: v0.29.5\n", "v0.29.5"},
		{"as YAML with quotes", `app.kubernetes.io/version: "v2.3.0"`, "v2.3.0"},
		{"as JSON", `{"app.kubernetes.io/version":"v2.3.0"}`, "v2.3.0"},
		{"a release candidate", "app.kubernetes.io/version: v2.4.0-rc.1\n", "v2.4.0-rc.1"},
		{"no version", "app.kubernetes.io/part-of: flux\n", ""},
		{"something else in its place", "app.kubernetes.io/version: latest\n", ""},
		{"control characters", "app.kubernetes.io/version: v2.\x00\x1b[31m", ""},
		{"nothing", "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			left := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot", Name: "left"}, Data: map[string][]byte{"flux.yaml": []byte(test.text)}}
			resource := &gardener.ManagedResource{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot", Name: "piece"}}
			resource.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: "gone"}, {Name: "left"}}
			if got, err := newSeed(t, left, resource).Release(t.Context(), "shoot", "piece"); err != nil || got != test.want {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	t.Run("nothing was left", func(t *testing.T) {
		if got, err := newSeed(t).Release(t.Context(), "shoot", "piece"); err != nil || got != "" {
			t.Errorf("%q, %v", got, err)
		}
	})
}

// TestClean: only what this extension has made as contents is deleted.
func TestClean(t *testing.T) {
	secret := func(name string, labels map[string]string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot", Name: name, Labels: labels}}
	}
	ours := map[string]string{ManagerLabel: Manager, gardener.GarbageLabel: "true"}
	elsewhere := secret("elsewhere", ours)
	elsewhere.Namespace = "other"
	s := newSeed(t, secret("contents", ours), secret("key", map[string]string{ManagerLabel: Manager}), secret("garbage", map[string]string{gardener.GarbageLabel: "true"}),
		secret("managedresource-before", nil), secret("managedresource-other", nil), elsewhere)
	for range 2 {
		if err := s.Clean(t.Context(), "shoot", "before"); err != nil {
			t.Fatal(err)
		}
	}
	list := &corev1.SecretList{}
	if err := s.Client.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	var left []string
	for i := range list.Items {
		left = append(left, list.Items[i].Name)
	}
	if got := strings.Join(left, " "); got != "elsewhere garbage key managedresource-other" {
		t.Errorf("left is %s", got)
	}
	s.fails["delete Secret"] = errors.New("no")
	if err := s.Clean(t.Context(), "shoot", "before"); err == nil || !strings.Contains(err.Error(), "delete Secret shoot/managedresource-before") {
		t.Errorf("%v", err)
	}
}
