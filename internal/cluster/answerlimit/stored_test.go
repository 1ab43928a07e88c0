package answerlimit

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// object is one with a text of a size.
func object(namespace, name string, size int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": namespace, "name": name},
		"data":     map[string]any{"a": strings.Repeat("x", size)},
	}}
}

// TestStoredFollowsTheWatch: what is booked is what the watch keeps, whatever happens to
// its objects.
func TestStoredFollowsTheWatch(t *testing.T) {
	const mib = 1 << 20
	put := func(name string, size int) func(*testing.T, *Stored) {
		return func(t *testing.T, s *Stored) {
			t.Helper()
			if err := s.Put(object("ns", name, size)); err != nil {
				t.Fatal(err)
			}
		}
	}
	drop := func(object any) func(*testing.T, *Stored) {
		return func(_ *testing.T, s *Stored) { s.Drop(object) }
	}
	tests := []struct {
		reason string
		steps  []func(*testing.T, *Stored)
		// want is what is booked, rounded up to a mebibyte.
		want int64
	}{
		{"a small object is in the free share", []func(*testing.T, *Stored){put("a", 100)}, 0},
		{"a large one is booked without the free share", []func(*testing.T, *Stored){put("a", 3*mib)}, 3},
		{"a new version takes the place of the old one", []func(*testing.T, *Stored){put("a", 3*mib), put("a", 3*mib), put("a", 3*mib)}, 3},
		{"a version that became smaller gives back", []func(*testing.T, *Stored){put("a", 5*mib), put("a", 2*mib)}, 2},
		{"objects of different names add up", []func(*testing.T, *Stored){put("a", 2*mib), put("b", 2*mib)}, 4},
		{"a deleted object gives back", []func(*testing.T, *Stored){put("a", 2*mib), put("b", 2*mib), drop(object("ns", "a", 0))}, 2},
		{"an object with a missed deletion gives back", []func(*testing.T, *Stored){put("a", 3*mib), drop(cache.DeletedFinalStateUnknown{Key: "ns/a"})}, 0},
		{"an object that is deleted twice gives back once", []func(*testing.T, *Stored){put("a", 3*mib), put("b", 3*mib), drop(object("ns", "a", 0)), drop(object("ns", "a", 0))}, 3},
		{"an object of another namespace with the same name stays", []func(*testing.T, *Stored){put("a", 3*mib), drop(object("other", "a", 0))}, 3},
		{"an unknown object gives nothing back", []func(*testing.T, *Stored){put("a", 3*mib), drop(object("ns", "z", 0))}, 3},
		{"a value that is not an object changes nothing", []func(*testing.T, *Stored){put("a", 3*mib), drop("a text"), drop(nil)}, 3},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			b := New(0)
			s := NewStored(b)
			for _, step := range test.steps {
				step(t, s)
			}
			if got := (b.Used.Load() + mib - 1) / mib; got != test.want {
				t.Errorf("%d bytes are booked, want about %d MiB", b.Used.Load(), test.want)
			}
			s.End()
			if b.Used.Load() != 0 {
				t.Errorf("%d bytes stay booked", b.Used.Load())
			}
		})
	}
}

func TestStoredRefuses(t *testing.T) {
	t.Run("one watch keeps no more than its part", func(t *testing.T) {
		b := New(1 << 40)
		b.Each = 4 << 20
		s := NewStored(b)
		if err := s.Put(object("ns", "a", 3<<20)); err != nil {
			t.Fatal(err)
		}
		before := b.Used.Load()
		if err := s.Put(object("ns", "b", 3<<20)); refusal(err) != "too large" || b.Used.Load() != before {
			t.Errorf("%v, booked are %d instead of %d", err, b.Used.Load(), before)
		}
		// What did not fit was not stored, so it cannot be given back either.
		s.Drop(object("ns", "b", 0))
		if b.Used.Load() != before {
			t.Errorf("what was refused is given back: %d instead of %d", b.Used.Load(), before)
		}
	})
	t.Run("all watches together keep no more than the process has", func(t *testing.T) {
		b := New(2 << 20)
		first, second := NewStored(b), NewStored(b)
		if err := first.Put(object("ns", "a", 2<<20)); err != nil {
			t.Fatal(err)
		}
		if err := second.Put(object("ns", "a", 3<<20)); refusal(err) != "busy" {
			t.Errorf("%v", err)
		}
		if err := second.Put(object("ns", "a", 1000)); err != nil {
			t.Errorf("a small object is always kept: %v", err)
		}
		first.End()
		if err := second.Put(object("ns", "b", 2<<20)); err != nil {
			t.Errorf("after the first watch: %v", err)
		}
	})
	t.Run("a watch that has ended books nothing that is still on its way", func(t *testing.T) {
		b := New(0)
		s := NewStored(b)
		s.End()
		if err := s.Put(object("ns", "a", 3<<20)); err != nil || b.Used.Load() != 0 {
			t.Errorf("%v, booked are %d", err, b.Used.Load())
		}
		s.Drop(object("ns", "a", 0))
		s.End()
		if b.Used.Load() != 0 {
			t.Errorf("booked are %d", b.Used.Load())
		}
	})
	t.Run("what has no name is not kept", func(t *testing.T) {
		b := New(0)
		if err := NewStored(b).Put(strings.Repeat("x", 8<<20)); err != nil || b.Used.Load() != 0 {
			t.Errorf("%v, booked are %d", err, b.Used.Load())
		}
	})
}

// TestNoPlaceToHide puts a mebibyte wherever a cluster could send one: what is not counted
// costs an attacker nothing.
func TestNoPlaceToHide(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	many := make([]any, 1<<14)
	tests := []struct {
		reason string
		object any
	}{
		{"a text", &unstructured.Unstructured{Object: map[string]any{"a": long}}},
		{"a key", &unstructured.Unstructured{Object: map[string]any{long: nil}}},
		{"a text deep inside", &unstructured.Unstructured{Object: map[string]any{"a": []any{map[string]any{"b": []any{long}}}}}},
		{"many nulls", &unstructured.Unstructured{Object: map[string]any{"a": many}}},
		{"a name", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: long}}},
		{"a namespace", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: long}}},
		{"a UID", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: types.UID(long)}}},
		{"a version", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: long}}},
		{"the beginning of a name", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{GenerateName: long}}},
		{"a label", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": long}}}},
		{"the key of a label", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{long: ""}}}},
		{"an annotation", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"a": long}}}},
		{"a finalizer", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Finalizers: []string{long}}}},
		{"many empty finalizers", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Finalizers: make([]string, 1<<14)}}},
		{"the name of an owner", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Name: long}}}}},
		{"the kind of an owner", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: long}}}}},
		{"the version of an owner", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: long}}}}},
		{"the UID of an owner", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: types.UID(long)}}}}},
		{"many empty owners", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{OwnerReferences: make([]metav1.OwnerReference, 1<<13)}}},
		{"the kind itself", &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: long}}},
		{"the version of the kind", &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: long}}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if size := SizeOf(test.object); size < 1<<20 {
				t.Errorf("counts %d bytes", size)
			}
		})
	}
}
