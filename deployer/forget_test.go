package deployer

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/expectations/leftover"
)

// TestItemsAreForgotten: nothing is remembered of a deleted item, whatever comes first: the next look,
// or another item of the same name.
func TestItemsAreForgotten(t *testing.T) {
	const old = types.UID("u")
	letGo := func(s *stage) {
		if err := s.reconciler.client.Delete(s.Context(), s.item()); err != nil {
			s.Fatal(err)
		}
		s.look()
	}
	again := func(s *stage, change ...func(*v1alpha1.DeployItem)) {
		item := newItem(change...)
		item.UID = "v"
		s.create(item)
	}
	for _, test := range []struct {
		reason string
		goes   func(s *stage)
	}{
		{"the item is deleted, and not found by the next look", func(s *stage) {
			letGo(s)
			s.look()
		}},
		{"the item is deleted, and another one has its name at the next look", func(s *stage) {
			letGo(s)
			again(s)
			s.look()
		}},
		{"the item is deleted, and another one without a job has its name at the next look", func(s *stage) {
			letGo(s)
			again(s, without)
			s.look()
		}},
		{"the item is deleted by another client, right after the end of its job", func(s *stage) {
			s.look()
			item := s.item()
			item.Finalizers = nil
			if err := errors.Join(s.reconciler.client.Update(s.Context(), item), s.reconciler.client.Delete(s.Context(), item)); err != nil {
				s.Fatal(err)
			}
			s.look()
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := onStage(t, &script{}, newItem())
			test.goes(s)
			if left := leftover.Of(s.reconciler, string(old)); len(left) > 0 {
				t.Errorf("remembered are %q", left)
			}
		})
	}
}
