package cause

import (
	"strings"
	"testing"
)

// TestList: the cause stands first and once, the way to it after.
func TestList(t *testing.T) {
	refused := Cause{Message: "the API server refuses it", Item: "web", Target: "prod"}
	long := strings.Repeat("y", 3000)
	for _, test := range []struct {
		reason string
		causes []Cause
		want   string
	}{
		{"nothing is wrong", nil, ""},
		{"the root itself", []Cause{{Message: "no such blueprint"}}, "no such blueprint"},
		{"an item of the root", []Cause{refused}, "the API server refuses it; at item web on Target prod"},
		{"an item without a Target", []Cause{{Message: "m", Item: "web"}}, "m; at item web"},
		{"an item at depth 3", []Cause{refused.Below("c").Below("b").Below("a")}, "the API server refuses it; at item web on Target prod; in a > b > c"},
		{"a subinstallation", []Cause{Cause{Message: "no such import"}.Below("a")}, "no such import; in a"},
		{"two causes, a line for each", []Cause{refused, {Message: "n", Item: "db"}}, "the API server refuses it; at item web on Target prod\nn; at item db"},
		{"one cause in two places stands there once", []Cause{refused.Below("a"), refused.Below("b")}, "the API server refuses it; at item web on Target prod; in a; at item web on Target prod; in b"},
		{"many places", []Cause{refused.Below("a"), refused.Below("b"), refused.Below("c"), refused.Below("d"), refused.Below("e")},
			"the API server refuses it; at item web on Target prod; in a; at item web on Target prod; in b; at item web on Target prod; in c; and at 2 more places"},
		{"many causes", []Cause{{Message: "1"}, {Message: "2"}, {Message: "3"}, {Message: "4"}, {Message: "5"}}, "1\n2\n3\nand 2 more"},
		{"a long message is cut, the path to its object is not", []Cause{Cause{Message: long}.Below("a")}, long[:1000] + " ...; in a"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := List(test.causes); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestBelow: a cause that several parents see keeps its own way.
func TestBelow(t *testing.T) {
	leaf := Cause{Message: "m"}.Below("c")
	first, second := leaf.Below("a"), leaf.Below("b")
	if first.Place() != "in a > c" || second.Place() != "in b > c" || leaf.Place() != "in c" {
		t.Errorf("%q, %q, %q", first.Place(), second.Place(), leaf.Place())
	}
}
