package server

import (
	"strings"
	"testing"
)

// TestWrongKeysInOrder: of several wrong keys the first one is named with each start.
func TestWrongKeysInOrder(t *testing.T) {
	config := &SignatureConfig{Keys: map[string]SignatureKey{"c": {}, "a": {}, "b": {}}}
	for range 50 {
		if _, err := config.keys(); err == nil || !strings.HasPrefix(err.Error(), "signatureVerification.keys.a:") {
			t.Fatalf("got %v", err)
		}
	}
}
