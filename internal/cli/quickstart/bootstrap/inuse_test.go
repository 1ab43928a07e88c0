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
		{"without Installations, there is nothing to say", Removal{Definitions: true, DeleteNamespace: true}, nil, "", false},
		{"Installations stay for the next Landscaper", Removal{Namespace: "ls"}, use, "root Installations: 3, in the namespaces shop (2), tools (1). They stay", false},
		{"Installations are given up with the CRDs", Removal{Namespace: "ls", Definitions: true}, use, "is not managed any more", false},
		{"a namespace with Installations would stay for ever", Removal{Namespace: "shop", DeleteNamespace: true}, use, "the namespace shop has Installations", true},
		{"a namespace whose Installations are given up may be deleted", Removal{Namespace: "shop", DeleteNamespace: true, Definitions: true}, use, "They are deleted with the CRDs", false},
		{"a namespace without Installations may be deleted", Removal{Namespace: "ls", DeleteNamespace: true}, use, "They stay", false},
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
