package leftover

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestOf: a text is found in any store of another package, wherever it stands there.
func TestOf(t *testing.T) {
	type memory struct {
		Client  client.Client
		byUID   map[types.UID]*types.NamespacedName
		byName  map[types.NamespacedName]bool
		waiting []any
		array   [1]string
		again   *memory
		call    func()
	}
	for _, test := range []struct {
		reason string
		memory memory
		want   []string
	}{
		{"nothing is remembered", memory{Client: fake.NewFakeClient()}, nil},
		{"a key", memory{byUID: map[types.UID]*types.NamespacedName{"u": nil}}, []string{".byUID[key]"}},
		{"a part of a key", memory{byName: map[types.NamespacedName]bool{{Namespace: "n", Name: "u"}: true}}, []string{".byName[key].Name"}},
		{"a value", memory{byUID: map[types.UID]*types.NamespacedName{"other": {Name: "u"}}}, []string{".byUID[].Name"}},
		{"an entry of any type", memory{waiting: []any{1, "u"}}, []string{".waiting[]"}},
		{"an array", memory{array: [1]string{"u"}}, []string{".array[]"}},
		{"a longer text is another one", memory{array: [1]string{"uu"}, call: func() {}}, nil},
	} {
		test.memory.again = &test.memory
		if got := Of(&test.memory, "u"); !slices.Equal(got, test.want) {
			t.Errorf("%s: found %q, want %q", test.reason, got, test.want)
		}
	}
}
