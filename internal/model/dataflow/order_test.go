package dataflow

import (
	"strings"
	"testing"
)

// TestWrongKeysInOrder: of several keys whose content is wrong, the first one is named in each
// attempt.
func TestWrongKeysInOrder(t *testing.T) {
	for range 50 {
		_, err := fromEntries(map[string][]byte{"d": []byte("["), "b": []byte("["), "a": []byte("1"), "c": []byte("[")}, "")
		if err == nil || !strings.Contains(err.Error(), `key "b"`) {
			t.Fatalf("got %v", err)
		}
	}
}
