package yamlio

import (
	"strings"
	"testing"
)

// TestUnsupportedInOrder: of several values that are not supported the first one is named.
func TestUnsupportedInOrder(t *testing.T) {
	for range 50 {
		_, err := FromGo(map[string]any{"c": make(chan int), "a": make(chan int), "b": make(chan int)}, true)
		if err == nil || !strings.HasPrefix(err.Error(), "a: ") {
			t.Fatalf("got %v", err)
		}
	}
}
