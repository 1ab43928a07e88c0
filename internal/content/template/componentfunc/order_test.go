package componentfunc

import (
	"strings"
	"testing"
)

// TestAttributesInOrder: of several wrong attributes the first one is told in each attempt.
func TestAttributesInOrder(t *testing.T) {
	for range 50 {
		_, err := identityField("resource", map[string]any{"c": true, "a": []any{}, "b": 1})
		if err == nil || !strings.Contains(err.Error(), "list") {
			t.Fatalf("got %v", err)
		}
	}
}
