package memfs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParts(t *testing.T) {
	parts := Parts{Files: map[string][]byte{"a/b": []byte("x"), "c": {}}, Links: map[string]string{"d": "a/b"}}
	tree, err := parts.Tree()
	if err != nil {
		t.Fatal(err)
	}
	again, err := PartsOf(tree)
	if diff := cmp.Diff(parts, again); err != nil || diff != "" {
		t.Error(diff, err)
	}
	// The same fault is named each time.
	wrong, said := Parts{Files: map[string][]byte{}}, map[string]bool{}
	for _, name := range []string{"a", "b", "c", "d"} {
		wrong.Files[name], wrong.Files[name+"/x"] = nil, nil
	}
	for range 100 {
		_, err := wrong.Tree()
		said[err.Error()] = true
	}
	if len(said) != 1 {
		t.Errorf("one fault is told in %d ways", len(said))
	}
	for _, wrong := range []Parts{
		{Files: map[string][]byte{"a": nil, "a/b": nil}},
		{Links: map[string]string{"a": "../../b"}},
	} {
		if _, err := wrong.Tree(); err == nil {
			t.Errorf("%v makes a tree", wrong)
		}
	}
}
