package siblings

import (
	"fmt"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestManyFamilies: only some families are remembered.
func TestManyFamilies(t *testing.T) {
	var relations Cache
	for i := range 3 * maxCached {
		root := &v1alpha1.Installation{}
		root.Name, root.Namespace = "one", fmt.Sprint("n", i)
		relations.Get(root, []*v1alpha1.Installation{root})
	}
	if len(relations.recent) != maxCached {
		t.Errorf("%d families are remembered", len(relations.recent))
	}
}
