// Package address holds the functions for IP addresses and networks.
package address

import (
	"net/netip"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/network"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// Functions are those for networks.
var Functions = []call.Function{
	{Name: "min_ip", Usage: "min_ip(cidr)", Result: "string", Min: 1, Max: 1, Run: cidrText(network.First),
		Doc: "The first address of a network.", Example: `min_ip("10.1.2.3/24")`, Gives: `10.1.2.0`},
	{Name: "max_ip", Usage: "max_ip(cidr)", Result: "string", Min: 1, Max: 1, Run: cidrText(network.Last),
		Doc: "The last address of a network.", Example: `max_ip("10.1.2.3/24")`, Gives: `10.1.2.255`},
	{Name: "num_ip", Usage: "num_ip(cidr)", Result: "int", Min: 1, Max: 1, Run: numIP,
		Doc: "The number of addresses of a network.", Example: `num_ip("10.1.2.3/24")`, Gives: `256`},
	{Name: "contains_ip", Usage: "contains_ip(cidr, address)", Result: "bool", Min: 2, Max: 2, Run: containsIP,
		Doc: "Whether a network has an address.", Example: `contains_ip("10.1.0.0/16", "10.1.9.9")`, Gives: `true`},
	{Name: "ipset", Tier: 3, Usage: "ipset(ranges, n [, index…])", Result: "list", Min: 2, Max: -1, Run: ipSet,
		Doc: "The first n addresses of ranges (addresses, `a - b`, networks), or those at the given positions " +
			"(integers or nested lists).",
		Example: `ipset("10.0.0.0/24", 2, [4..9])`, Gives: `["10.0.0.4","10.0.0.5"]`},
}

func cidrText(f func(string) (string, error)) func(*call.Call) (value.Value, error) {
	return func(c *call.Call) (value.Value, error) {
		cidr, err := c.Text(0)
		if err != nil {
			return nil, err
		}
		text, err := f(cidr)
		if err != nil {
			return nil, c.Failf("%s: %w", c.Quote(cidr), err)
		}
		return value.Text(text), nil
	}
}

func numIP(c *call.Call) (value.Value, error) {
	cidr, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	n, err := network.Count(cidr)
	if err != nil {
		return nil, c.Failf("%s: %w", c.Quote(cidr), err)
	}
	return value.Int(n), nil
}

func containsIP(c *call.Call) (value.Value, error) {
	cidr, err := c.Text(0)
	if err != nil {
		return nil, err
	}
	address, err := c.Text(1)
	if err != nil {
		return nil, err
	}
	found, err := network.Contains(cidr, address)
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	return value.Bool(found), nil
}

func ipSet(c *call.Call) (value.Value, error) {
	texts, err := c.Texts(0)
	if err != nil {
		return nil, err
	}
	n, err := c.Int(1)
	if err != nil {
		return nil, err
	}
	ranges, err := Ranges(c, texts)
	if err != nil {
		return nil, err
	}
	positions, err := Positions(c, c.Args[2:])
	if err != nil {
		return nil, err
	}
	return PickAddresses(c, ranges, n, positions)
}

// Ranges reads addresses, "a - b" and networks.
func Ranges(c *call.Call, texts []string) ([]network.Range, error) {
	ranges := make([]network.Range, len(texts))
	for i, text := range texts {
		r, err := network.ParseRange(text)
		if err != nil {
			return nil, c.Failf("%s: %w", c.Quote(text), err)
		}
		ranges[i] = r
	}
	return ranges, nil
}

// Positions flattens integers and nested lists of them.
func Positions(c *call.Call, args []value.Value) ([]int64, error) {
	var positions []int64
	for _, a := range args {
		switch v := a.(type) {
		case value.Int:
			positions = append(positions, int64(v))
		case *value.List:
			values := make([]value.Value, len(v.Items))
			for i, n := range v.Items {
				values[i] = n.Value
			}
			inner, err := Positions(c, values)
			if err != nil {
				return nil, err
			}
			positions = append(positions, inner...)
		default:
			return nil, c.Failf("positions must be integers or lists of them, not %s", value.A(a))
		}
	}
	return positions, nil
}

// PickAddresses returns n addresses, consecutively or at the given positions.
func PickAddresses(c *call.Call, ranges []network.Range, n int64, positions []int64) (value.Value, error) {
	if n < 0 {
		return nil, c.Failf("number of addresses must not be negative")
	}
	if len(positions) > 0 && int64(len(positions)) < n {
		return nil, c.Failf("%d addresses are needed, but only %d positions are given", n, len(positions))
	}
	var texts []string
	for p := range n {
		if len(positions) > 0 {
			p = positions[p]
		}
		address, ok := network.At(ranges, p)
		if !ok {
			return nil, c.Failf("ranges have no address number %d", p)
		}
		texts = append(texts, address)
	}
	return call.TextList(texts), nil
}

// IsIP reports whether a text is an IP address without a zone.
func IsIP(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil && !strings.Contains(s, "%")
}

// IsCIDR reports whether a text is a network.
func IsCIDR(s string) bool {
	_, err := netip.ParsePrefix(s)
	return err == nil
}
