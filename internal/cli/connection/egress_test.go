package connection

import (
	"net/netip"
	"testing"

	"k8s.io/client-go/rest"
)

// TestEgress: which addresses others can let the machine of a user connect to. Nothing is
// contacted.
func TestEgress(t *testing.T) {
	const far, near = "https://api.example.org", "https://127.0.0.1:6443"
	for _, test := range []struct {
		reason, cluster, address string
		allowed                  bool
	}{
		{"a cluster or registry somewhere", far, "203.0.113.7", true},
		{"a cluster or registry in a private network", far, "10.1.2.3", true},
		{"where a cloud hands out credentials", far, "169.254.169.254", false},
		{"where a cloud hands out credentials, in the notation of IPv6", far, "::ffff:169.254.169.254", false},
		{"a service of the user's machine", far, "127.0.0.1", false},
		{"a service of the user's machine by its IPv6 address", far, "::1", false},
		{"a cluster of the user's machine, beside the resource cluster", near, "127.0.0.1", true},
		{"credentials of a cloud, with a cluster on the user's machine", near, "169.254.169.254", false},
		{"the machine by its name", "https://localhost:6443", "127.0.0.1", true},
		{"a name that only looks like it", "https://localhost.example.org", "127.0.0.1", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			policy := (&Connection{Config: &rest.Config{Host: test.cluster}}).Egress()
			if err := policy.Check("host", netip.MustParseAddr(test.address)); (err == nil) != test.allowed {
				t.Errorf("%v", err)
			}
		})
	}
}
