package egress

import (
	"errors"
	"strings"
	"testing"
)

// TestOffline: nothing is resolved or connected to, and the message says how that is allowed.
func TestOffline(t *testing.T) {
	policy := Offline("use --registry")
	var refused *Refused
	for _, address := range []string{"registry.invalid:443", "127.0.0.1:443", "192.0.2.1:80"} {
		_, err := policy.DialContext(t.Context(), "tcp", address)
		if !errors.As(err, &refused) || refused.Rule != RuleOffline || !strings.Contains(err.Error(), "use --registry") {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := policy.CheckHost("registry.invalid"); !errors.As(err, &refused) {
		t.Errorf("through a proxy: %v", err)
	}
	if _, err := policy.Outside().DialContext(t.Context(), "tcp", "registry.invalid:443"); !errors.As(err, &refused) {
		t.Errorf("a redirect: %v", err)
	}
}
