package address_test

import (
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/builtin/address"
	"go.landscaper.dev/test/language"
)

func TestNetworks(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"the first address, from anywhere inside", `min_ip("10.1.2.3/20")`, `10.1.0.0`},
		{"the last address", `max_ip("10.1.2.3/20")`, `10.1.15.255`},
		{"a network of one", `min_ip("10.1.2.3/32") == max_ip("10.1.2.3/32")`, `true`},
		{"all addresses", `min_ip("0.0.0.0/0") "-" max_ip("0.0.0.0/0")`, `0.0.0.0-255.255.255.255`},
		{"the sixth version", `max_ip("2001:db8::/126")`, `"2001:db8::3"`},
		{"how many", `num_ip("10.0.0.0/24")`, `256`},
		{"how many are all", `num_ip("0.0.0.0/0")`, `4294967296`},
		{"how many of the sixth version", `num_ip("::/66")`, `4611686018427387904`},
		{"the last one is inside", `contains_ip("10.0.0.0/24", "10.0.0.255")`, `true`},
		{"the one behind is not", `contains_ip("10.0.0.0/24", "10.0.1.0")`, `false`},
		{"another family is not", `contains_ip("0.0.0.0/0", "::1")`, `false`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"an address is not a network", `min_ip("10.0.0.1")`, `"10.0.0.1": no CIDR`},
		{"a prefix that is too long", `max_ip("10.0.0.0/33")`, "no CIDR"},
		{"more than 64 bit", `num_ip("::/64")`, "number of addresses does not fit into 64 bit"},
		{"a network is not an address", `contains_ip("10.0.0.0/8", "10.0.0.0/9")`, "no IP address or CIDR"},
		{"nothing", `num_ip("")`, "no CIDR"},
		{"a number is not a network", `min_ip(10)`, "argument 1 must be a string"},
	})
}

func TestIPSet(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"from the beginning", `ipset("10.0.0.8/29", 3)`, `["10.0.0.8", "10.0.0.9", "10.0.0.10"]`},
		{"over several ranges", `ipset(["10.0.0.1", "10.0.1.1 - 10.0.1.2", "10.0.2.0/31"], 5)`, `["10.0.0.1", "10.0.1.1", "10.0.1.2", "10.0.2.0", "10.0.2.1"]`},
		{"at positions", `ipset("10.0.0.0/24", 2, 5, 3)`, `["10.0.0.5", "10.0.0.3"]`},
		{"at positions in nested lists", `ipset("10.0.0.0/24", 3, [[1], 2, [[3]]], 9)`, `["10.0.0.1", "10.0.0.2", "10.0.0.3"]`},
		{"none", `ipset("10.0.0.0/24", 0)`, `[]`},
		{"an empty list of positions counts as omitted", `ipset("10.0.0.0/24", 1, [])`, `["10.0.0.0"]`},
		{"a large network is not counted through", `ipset("::/0", 1, 9223372036854775806)`, `["::7fff:ffff:ffff:fffe"]`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"more than there are", `ipset("10.0.0.0/31", 3)`, "ranges have no address number 2"},
		{"a range from behind has none", `ipset("10.0.0.2-10.0.0.1", 1)`, "ranges have no address number 0"},
		{"more than positions", `ipset("10.0.0.0/24", 2, 1)`, "2 addresses are needed, but only 1 positions are given"},
		{"a negative position", `ipset("10.0.0.0/24", 1, -1)`, "ranges have no address number -1"},
		{"less than none", `ipset("10.0.0.0/24", -1)`, "number of addresses must not be negative"},
		{"a range of two families", `ipset("10.0.0.0-::1", 1)`, "IPv4 and IPv6 cannot be mixed"},
		{"what is no range", `ipset("a-b", 1)`, `"a-b": no IP address or CIDR`},
		{"no ranges", `ipset([], 1)`, "ranges have no address number 0"},
		{"a number is no range", `ipset(1, 1)`, "argument 1 must be a string or a list of strings"},
		{"a text is not a number", `ipset("10.0.0.0/24", "1")`, "argument 2 must be an integer"},
		{"a text is no position", `ipset("10.0.0.0/24", 1, "1")`, "positions must be integers or lists of them, not a string"},
	})
}

func TestKinds(t *testing.T) {
	tests := []struct {
		reason, text string
		ip, cidr     bool
	}{
		{"an address", "10.0.0.1", true, false},
		{"an address in an address", "::ffff:10.0.0.1", true, false},
		{"an address with a zone", "fe80::1%eth0", false, false},
		{"a network", "10.0.0.0/8", false, true},
		{"a network with a zone", "fe80::1%eth0/64", false, false},
		{"leading zeros", "10.0.0.001", false, false},
		{"three groups", "10.0.0", false, false},
		{"a port", "10.0.0.1:80", false, false},
		{"brackets", "[::1]", false, false},
		{"a blank", " 10.0.0.1", false, false},
		{"a prefix with a sign", "10.0.0.0/+8", false, false},
		{"nothing", "", false, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if ip, cidr := address.IsIP(test.text), address.IsCIDR(test.text); ip != test.ip || cidr != test.cidr {
				t.Errorf("%q: address %t, network %t", test.text, ip, cidr)
			}
		})
	}
}
