package suggest

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	known := []string{"exports", "imports", "region", "zone", strings.Repeat("x", longest+1)}
	for _, test := range []struct{ reason, name, want string }{
		{"swapped letters", "regoin", "region"},
		{"a missing letter", "import", "imports"},
		{"another case", "REGION", "region"},
		{"the first of those that are as like", "xmports", "imports"},
		{"short names may differ in one letter", "zine", "zone"},
		{"something else", "password", ""},
		{"nothing", "", ""},
		{"a long name is not compared", strings.Repeat("x", longest+1), ""},
		{"a name is not compared with a long name", strings.Repeat("x", longest), ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := Name(test.name, known); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
