package egress

import (
	"net/netip"
)

// class is the class of an address.
type class int

const (
	ordinary class = iota
	private
	loopback
	unspecified
	linkLocal
	group
	metadata
)

// metadataAddresses serve credentials or data of the machine to its processes. They take precedence
// over the networks that they are in.
var metadataAddresses = addresses(
	"169.254.169.254", "169.254.170.2", "169.254.170.23", // most clouds; tasks and pods of one of them
	"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254",
	"100.100.100.200", "168.63.129.16", "192.0.0.192",
)

// networks have the class of all their addresses; the first that fits counts.
var networks = []struct {
	class    class
	prefixes []netip.Prefix
}{
	{unspecified, prefixes("0.0.0.0/8", "::/128")},
	{loopback, prefixes("127.0.0.0/8", "::1/128")},
	{linkLocal, prefixes("169.254.0.0/16", "fe80::/10")},
	{group, prefixes("224.0.0.0/4", "255.255.255.255/32", "ff00::/8")},
	// Beside those that are called private: shared by providers, for benchmarks, reserved, and the
	// former site-local ones. All of them have legitimate uses.
	{private, prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fec0::/10",
		"100.64.0.0/10", "192.0.0.0/24", "198.18.0.0/15", "240.0.0.0/4")},
}

func classify(address netip.Addr) class {
	for _, known := range metadataAddresses {
		if address == known {
			return metadata
		}
	}
	for _, network := range networks {
		if within(network.prefixes, address) {
			return network.class
		}
	}
	return ordinary
}

func within(prefixes []netip.Prefix, address netip.Addr) bool {
	for _, prefix := range prefixes {
		if prefix.Contains(address) {
			return true
		}
	}
	return false
}

// meanings returns the addresses at which a connection to an address may arrive:
// itself without its zone, and the IPv4 addresses that it carries for a gateway or a
// tunnel.
//
// A gateway decides which address it is, and the gateways are not known: each address must be
// allowed.
func meanings(address netip.Addr) []netip.Addr {
	address = address.WithZone("").Unmap()
	found := []netip.Addr{address}
	if address.Is4() {
		return found
	}
	raw := address.As16()
	for _, carrier := range carriers {
		if !carrier.prefix.Contains(address) {
			continue
		}
		for _, at := range carrier.at {
			var carried [4]byte
			for i, position := range at {
				carried[i] = raw[position] ^ carrier.mask
			}
			// Such an address has no machine; another layout has zeros here.
			if carried[0] != 0 {
				found = append(found, netip.AddrFrom4(carried))
			}
		}
	}
	// ISATAP has a mark in the middle instead of a prefix.
	if (raw[8] == 0 || raw[8] == 2) && raw[9] == 0 && raw[10] == 0x5e && raw[11] == 0xfe {
		found = append(found, netip.AddrFrom4([4]byte(raw[12:])))
	}
	return found
}

// carriers are networks whose addresses carry IPv4 addresses, and in which bytes.
var carriers = []struct {
	prefix netip.Prefix
	at     [][4]int
	mask   byte
}{
	// IPv4-compatible and IPv4-translated.
	{netip.MustParsePrefix("::/96"), [][4]int{{12, 13, 14, 15}}, 0},
	{netip.MustParsePrefix("::ffff:0:0:0/96"), [][4]int{{12, 13, 14, 15}}, 0},
	// NAT64: the well-known prefix, and the local ones, where the unknown length of the prefix
	// decides.
	{netip.MustParsePrefix("64:ff9b::/96"), [][4]int{{12, 13, 14, 15}}, 0},
	{netip.MustParsePrefix("64:ff9b:1::/48"), [][4]int{{12, 13, 14, 15}, {6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}}, 0},
	// 6to4.
	{netip.MustParsePrefix("2002::/16"), [][4]int{{2, 3, 4, 5}}, 0},
	// Teredo: the client with all bits inverted, and its server.
	{netip.MustParsePrefix("2001::/32"), [][4]int{{12, 13, 14, 15}}, 0xff},
	{netip.MustParsePrefix("2001::/32"), [][4]int{{4, 5, 6, 7}}, 0},
}

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

func addresses(texts ...string) []netip.Addr {
	list := make([]netip.Addr, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParseAddr(text)
	}
	return list
}
