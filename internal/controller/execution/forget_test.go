package execution

import (
	"errors"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/expectations/leftover"
)

// TestItemsAreForgotten: nothing is remembered of an item that no longer exists, although no cache
// shows the version that was written last.
func TestItemsAreForgotten(t *testing.T) {
	for _, test := range []struct {
		reason string
		// there says that the API server still has the item.
		there bool
		write func(b *bench, item *v1alpha1.DeployItem) error
		// eventLater says that the event of its deletion comes after the write.
		eventLater bool
	}{
		{"a write has removed the finalizer", true, func(b *bench, item *v1alpha1.DeployItem) error {
			return b.letGo(t.Context(), &snapshot{}, item)
		}, true},
		{"a new item is deleted before the next reconcile of its Execution", true, func(b *bench, item *v1alpha1.DeployItem) error {
			b.memory.wrote(item)
			b.memory.Of("exec").created.Expect(key.Name, b.Now())
			return nil
		}, true},
		{"an item was deleted before its job ended, and the event has come already", false, func(b *bench, item *v1alpha1.DeployItem) error {
			return b.endItem(t.Context(), item, "a", errors.New("it was ended"))
		}, false},
		{"an item was deleted before its finalizer was removed", false, func(b *bench, item *v1alpha1.DeployItem) error {
			return b.letGo(t.Context(), &snapshot{}, item)
		}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{UID: "exec"}}, v1alpha1.GroupVersion.WithKind("Execution"))}, Finalizers: []string{v1alpha1.Finalizer}}}
			b := newBench(t)
			item.ResourceVersion = "7"
			if test.there {
				item.ResourceVersion = ""
				b = newBench(t, item)
				if err := b.api.Delete(t.Context(), item); err != nil {
					t.Fatal(err)
				}
				if err := b.api.Get(t.Context(), key, item); err != nil {
					t.Fatal(err)
				}
			}
			if err := test.write(b, item); err != nil {
				t.Fatal(err)
			}
			if test.eventLater {
				b.memory.forget(item)
			}
			if left := leftover.Of(b.Reconciler, string(item.UID), item.Name); len(left) > 0 {
				t.Errorf("remembered are %q", left)
			}
		})
	}
}

// TestExecutionsAreForgotten: nothing is remembered of an Execution that no longer exists. An item
// that it has created and that no cache has shown would stay for ever.
func TestExecutionsAreForgotten(t *testing.T) {
	for _, test := range []struct {
		reason string
		end    func(t *testing.T, b *bench)
	}{
		{"another client has removed the finalizer", func(t *testing.T, b *bench) {
			b.reconcile(t)
			b.memory.forget(b.execution(t))
		}},
		{"the Execution is deleted while its items are written, after the event of its deletion", func(t *testing.T, b *bench) {
			exec := b.execution(t)
			end := sync.OnceValue(func() error {
				b.memory.forget(exec)
				exec.Finalizers = nil
				return errors.Join(b.api.Update(t.Context(), exec), b.api.Delete(t.Context(), exec))
			})
			b.creating = func(*v1alpha1.DeployItem) error { return end() }
			b.reconcile(t)
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}, v1alpha1.DeployItemTemplate{Name: "two"}))
			b.handOver(t, "a")
			test.end(t, b)
			if left := leftover.Of(b.Reconciler, "uid", key.Name); len(left) > 0 {
				t.Errorf("remembered are %q", left)
			}
		})
	}
}
