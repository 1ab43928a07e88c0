package managed

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
)

// read returns the objects of the ManagedResource of the tests.
func (s *seed) read(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	objects, err := s.objects(t.Context(), s.resource(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// annotated counts the objects that have an annotation with a value.
func annotated(objects []*unstructured.Unstructured, key, value string) int {
	count := 0
	for _, object := range objects {
		if object.GetAnnotations()[key] == value {
			count++
		}
	}
	return count
}

func kustomization() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"metadata": map[string]any{"name": "main", "namespace": "flux-system"}, "spec": map[string]any{"prune": true},
	}}
}

// TestFreeze: objects are ignored one by one. gardenlet reports a ManagedResource that is
// ignored as a whole in the constraints of the Shoot.
func TestFreeze(t *testing.T) {
	s := newSeed(t)
	if err := s.Freeze(t.Context(), "shoot", "piece"); err != nil || s.wrote() != "" {
		t.Errorf("a ManagedResource that does not exist: %v", err)
	}
	moved := configMap("moved", 1)
	moved.SetAnnotations(map[string]string{gardener.ModeAnnotation: gardener.ModeIgnore})
	piece := content(1)
	piece.Objects = append(piece.Objects, kustomization(), moved)
	if _, _, err := s.Ensure(t.Context(), "shoot", piece); err != nil {
		t.Fatal(err)
	}
	s.wrote()
	for _, want := range []string{"create Secret, patch ManagedResource", ""} {
		if err := s.Freeze(t.Context(), "shoot", "piece"); err != nil || s.wrote() != want {
			t.Errorf("want %q: %v", want, err)
		}
		stored := s.resource(t, nil)
		if !Judge(stored).Frozen || stored.Annotations[gardener.IgnoreAnnotation] != "" || !*stored.Spec.KeepObjects {
			t.Errorf("%v, objects kept: %t", stored.Annotations, *stored.Spec.KeepObjects)
		}
		objects := s.read(t)
		if len(objects) != 2 || annotated(objects, gardener.ModeAnnotation, gardener.ModeIgnore) != 2 {
			t.Errorf("the object that moved elsewhere leaves, the others are ignored: %v", objects)
		}
	}
	if _, changed, err := s.Ensure(t.Context(), "shoot", content(1)); err != nil || !changed || Judge(s.resource(t, nil)).Frozen {
		t.Errorf("contents that are written again are to be applied: %v", err)
	}
}

// TestFreezeOfFirstImplementation: what it has ignored as a whole is ignored object by
// object, and left as it is where its contents cannot be read.
func TestFreezeOfFirstImplementation(t *testing.T) {
	var packed bytes.Buffer
	writer := brotli.NewWriter(&packed)
	if _, err := writer.Write([]byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: flux-system}\n---\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: flux-system}\n")); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason string
		data   map[string][]byte
		writes string
		count  int
	}{
		{"as YAML: converted", map[string][]byte{"flux-install-yaml": []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: flux-system}\n")}, "create Secret, patch ManagedResource", 1},
		{"compressed: converted", map[string][]byte{"data.yaml.br": packed.Bytes()}, "create Secret, patch ManagedResource", 2},
		{"damaged: left as it is", map[string][]byte{"data.yaml.br": []byte("no brotli")}, "", 0},
		{"not YAML: left as it is", map[string][]byte{"flux-install-yaml": []byte("{{")}, "", 0},
		{"not an object: left as it is", map[string][]byte{"flux-install-yaml": []byte("- a\n")}, "", 0},
		{"without its Secret: left as it is", nil, "", 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			resource := &gardener.ManagedResource{ObjectMeta: metav1.ObjectMeta{
				Namespace: "shoot", Name: "piece", Annotations: map[string]string{gardener.IgnoreAnnotation: "true"},
			}}
			resource.Spec.SecretRefs = []corev1.LocalObjectReference{{Name: "managedresource-piece"}}
			s := newSeed(t, resource)
			if test.data != nil {
				secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "shoot", Name: "managedresource-piece"}, Data: test.data}
				if err := s.Client.Create(t.Context(), secret); err != nil {
					t.Fatal(err)
				}
				s.wrote()
			}
			if err := s.Freeze(t.Context(), "shoot", "piece"); err != nil || s.wrote() != test.writes {
				t.Errorf("%v", err)
			}
			stored := s.resource(t, nil)
			if ignored := stored.Annotations[gardener.IgnoreAnnotation] == "true"; !Judge(stored).Frozen || ignored != (test.count == 0) {
				t.Errorf("%v", stored.Annotations)
			}
			if test.count > 0 && annotated(s.read(t), gardener.ModeAnnotation, gardener.ModeIgnore) != test.count {
				t.Errorf("want %d objects that are ignored", test.count)
			}
		})
	}
}

// TestReclaimNothing: a ManagedResource without objects has the same contents before and after, so that
// the resource manager does not answer, and nothing is waited for.
func TestReclaimNothing(t *testing.T) {
	for _, test := range []struct {
		reason string
		seen   bool
	}{
		{"the resource manager has applied it", true},
		{"the resource manager has not seen it yet, and will answer", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := newSeed(t)
			if _, _, err := s.Ensure(t.Context(), "shoot", Piece{Name: "piece"}); err != nil {
				t.Fatal(err)
			}
			if test.seen {
				s.resource(t, func(r *gardener.ManagedResource) {
					r.Status.ObservedGeneration = r.Generation
					r.Status.Conditions = []gardener.Condition{{Type: gardener.ResourcesApplied, Status: gardener.ConditionTrue}}
				})
			}
			if err := s.Freeze(t.Context(), "shoot", "piece"); err != nil {
				t.Fatal(err)
			}
			if done, err := s.Reclaim(t.Context(), "shoot", "piece"); err != nil || done != test.seen {
				t.Errorf("done: %t, %v", done, err)
			}
		})
	}
}

// TestReclaim: what was left to the owner of the shoot is taken back before it is deleted,
// changes nothing that is there, and deploys nothing.
func TestReclaim(t *testing.T) {
	s := newSeed(t)
	reclaim := func(done bool, writes string) {
		t.Helper()
		got, err := s.Reclaim(t.Context(), "shoot", "piece")
		if wrote := s.wrote(); err != nil || got != done || wrote != writes {
			t.Errorf("done: %t, %q, %v", got, wrote, err)
		}
	}
	reclaim(true, "")
	piece := content(1)
	piece.Objects = append(piece.Objects, kustomization())
	if _, _, err := s.Ensure(t.Context(), "shoot", piece); err != nil {
		t.Fatal(err)
	}
	s.wrote()
	reclaim(true, "")
	if err := s.Freeze(t.Context(), "shoot", "piece"); err != nil {
		t.Fatal(err)
	}
	s.wrote()
	reclaim(false, "create Secret, patch ManagedResource")
	reclaim(false, "")
	objects := s.read(t)
	if annotated(objects, gardener.ModeAnnotation, gardener.ModeIgnore) != 0 || annotated(objects, gardener.IgnoreAnnotation, "true") != 2 {
		t.Errorf("objects are managed again, and none that exists is changed: %v", objects)
	}
	at := slices.IndexFunc(objects, func(object *unstructured.Unstructured) bool { return object.GetKind() == "Kustomization" })
	if suspended, _, _ := unstructured.NestedBool(objects[at].Object, "spec", "suspend"); !suspended {
		t.Error("a Kustomization that the owner has deleted would deploy again before it is deleted")
	}
	s.resource(t, func(r *gardener.ManagedResource) {
		r.Status.ObservedGeneration = r.Generation
		r.Status.Conditions = []gardener.Condition{{Type: gardener.ResourcesApplied, Status: gardener.ConditionTrue}}
	})
	reclaim(true, "")
	t.Run("one that is being deleted is too late", func(t *testing.T) {
		s.resource(t, func(r *gardener.ManagedResource) {
			r.Finalizers = []string{"x/y"}
			r.Annotations[ObjectsAnnotation] = left
		})
		if err := s.Client.Delete(t.Context(), s.resource(t, nil)); err != nil {
			t.Fatal(err)
		}
		s.wrote()
		reclaim(true, "")
	})
}

// TestContentsStaySecret: contents may be Secrets.
func TestContentsStaySecret(t *testing.T) {
	s := newSeed(t)
	if _, _, err := s.Ensure(t.Context(), "shoot", content(1)); err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: "shoot", Name: s.resource(t, nil).Spec.SecretRefs[0].Name}
	if err := s.Client.Get(context.Background(), key, secret); err != nil {
		t.Fatal(err)
	}
	secret.Data[dataKey] = []byte("data: {token: topsecret}}\n")
	if err := s.Client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	err := s.Freeze(t.Context(), "shoot", "piece")
	if err == nil || strings.Contains(err.Error(), "topsecret") || !strings.Contains(err.Error(), secret.Name) {
		t.Errorf("%v", err)
	}
}
