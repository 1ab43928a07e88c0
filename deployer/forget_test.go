package deployer

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
)

// TestWrittenIsForgotten: nothing is remembered of what was written of an item that is
// gone, whatever comes first: the answer to the write, the event of the end, or another
// item of the same name.
func TestWrittenIsForgotten(t *testing.T) {
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
		{"it is let go, and then found to be gone", func(s *stage) {
			letGo(s)
			s.look()
		}},
		{"it is let go, and another one has its name when somebody looks", func(s *stage) {
			letGo(s)
			again(s)
			s.look()
		}},
		{"the same, but the other one has no job", func(s *stage) {
			letGo(s)
			again(s, without)
			s.look()
		}},
		{"somebody else lets it go, right after the end of its job", func(s *stage) {
			s.look()
			s.reconciler.forget(&v1alpha1.DeployItem{ObjectMeta: s.item().ObjectMeta})
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			s := onStage(t, &script{}, newItem())
			test.goes(s)
			item := newItem()
			item.UID, item.ResourceVersion = old, "1"
			if s.reconciler.written.Await(t.Context(), s.reconciler.live, item) != nil {
				t.Error("what was written of it is remembered")
			}
		})
	}
}
