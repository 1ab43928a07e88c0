package bootstrap

import (
	"strings"
	"testing"
)

// TestConsequence: what a removal means for the Installations that there are.
func TestConsequence(t *testing.T) {
	use := Use{"shop": 2, "tools": 1}
	for _, test := range []struct {
		reason  string
		removal Removal
		use     Use
		want    string
		refused bool
	}{
		{"nobody uses it", Removal{Definitions: true, DeleteNamespace: true}, nil, "", false},
		{"what is installed waits for the next Landscaper", Removal{Namespace: "ls"}, use, "root Installations: 3, in the namespaces shop (2), tools (1). They stay", false},
		{"what is installed is given up", Removal{Namespace: "ls", Definitions: true}, use, "is not managed any more", false},
		{"a namespace with Installations would never go", Removal{Namespace: "shop", DeleteNamespace: true}, use, "the namespace shop has Installations", true},
		{"unless they are given up", Removal{Namespace: "shop", DeleteNamespace: true, Definitions: true}, use, "They go with the CRDs", false},
		{"nor does it matter in another namespace", Removal{Namespace: "ls", DeleteNamespace: true}, use, "They stay", false},
		{"not all namespaces are listed", Removal{}, Use{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1}, "e (1), 2 more. They stay", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := test.removal.Consequence(test.use)
			if err != nil {
				got = err.Error()
			}
			if (err != nil) != test.refused || !strings.Contains(got, test.want) || test.want == "" && got != "" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
