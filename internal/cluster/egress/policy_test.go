package egress

import (
	"net/netip"
	"strings"
	"testing"
)

// TestValidate: a policy that cannot be meant stops the server at its start, and a proxy's
// password is not shown for that.
func TestValidate(t *testing.T) {
	const word = "Tr0ubador"
	mapped := []netip.Prefix{netip.MustParsePrefix("::ffff:10.0.0.0/104")}
	for _, test := range []struct {
		reason string
		policy Policy
		want   string
	}{
		{"nothing said", Policy{}, ""},
		{"networks of both families, and single addresses", Policy{Allow: prefixes("10.0.0.0/8", "fd00::/8", "169.254.169.254/32"), Deny: prefixes("0.0.0.0/0", "::/0")}, ""},
		{"a network that was never read", Policy{Allow: []netip.Prefix{{}}}, "allow: "},
		{"a mapped network, which no address would be in", Policy{Deny: mapped}, "deny: "},
		{"two wrong fields: the first one is reported", Policy{Allow: mapped, Deny: mapped}, "allow: "},
		{"a proxy", Policy{Proxy: "http://proxy.example:3128"}, ""},
		{"a proxy with a password", Policy{Proxy: "http://user:" + word + "@proxy.example:3128"}, ""},
		{"a SOCKS proxy", Policy{Proxy: "socks5h://proxy.example:1080"}, ""},
		{"that of the environment", Policy{Proxy: ProxyFromEnvironment}, ""},
		{"the environment in capitals", Policy{Proxy: "Environment"}, "proxy: "},
		{"no scheme", Policy{Proxy: word + ".example:3128"}, "proxy: "},
		{"a scheme that is not one of a proxy", Policy{Proxy: "ftp://user:" + word + "@proxy.example"}, "proxy: "},
		{"no host", Policy{Proxy: "http:///" + word}, "proxy: "},
		{"an address that cannot be read", Policy{Proxy: "http://user:" + word + "@%zz"}, "proxy: "},
		{"a line in it", Policy{Proxy: "http://proxy.example\n" + word}, "proxy: "},
	} {
		t.Run(test.reason, func(t *testing.T) {
			for range 20 { // an order that changes would show
				err := test.policy.Validate()
				if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
					t.Fatalf("%v, want %q", err, test.want)
				}
				if err != nil && strings.Contains(err.Error(), word) {
					t.Errorf("the value is shown: %v", err)
				}
			}
		})
	}
}

// TestCheckHostForms: a proxy resolves names itself, so that a form which we take for a
// name and it for an address would lead past the policy.
func TestCheckHostForms(t *testing.T) {
	for _, test := range []struct {
		reason, host string
		refused      bool
	}{
		{"a name", "api.example.org", false},
		{"a name with a dot behind it", "api.example.org.", false},
		{"a name of digits and letters", "10-0-0-1.example.org", false},
		{"localhost with a trailing dot", "localhost.", true},
		{"an address with a dot behind it", "127.0.0.1.", true},
		{"an address with zeros before it", "127.0.0.01", true},
		{"an address of three parts", "127.0.1", true},
		{"an address in octal", "017700000001", true},
		{"an address of hexadecimal parts", "0x7f.0.0.1", true},
		{"an address in capitals", "0X7F000001", true},
		{"an address with a zone", "::1%lo", true},
		{"in brackets", "[::1%25lo]", true},
		{"carried by IPv6", "::ffff:169.254.169.254", true},
		{"hidden in a number", "2852039166", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if err := (Policy{}).CheckHost(test.host); (err != nil) != test.refused {
				t.Errorf("%v", err)
			}
		})
	}
}
