package network

import (
	"math/big"
	"net/netip"
	"strings"
)

// Range is a sequence of addresses.
type Range struct{ first, last netip.Addr }

// ParseRange reads an address, "a - b" or a CIDR range.
func ParseRange(text string) (Range, error) {
	if from, to, ok := strings.Cut(text, "-"); ok {
		first, err := netip.ParseAddr(strings.TrimSpace(from))
		if err != nil {
			return Range{}, ErrNoAddress
		}
		last, err := netip.ParseAddr(strings.TrimSpace(to))
		if err != nil {
			return Range{}, ErrNoAddress
		}
		if first.Is4() != last.Is4() {
			return Range{}, ErrFamily
		}
		return Range{first, last}, nil
	}
	text = strings.TrimSpace(text)
	if addr, err := netip.ParseAddr(text); err == nil {
		return Range{addr, addr}, nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return Range{}, ErrNoAddress
	}
	last, err := add(prefix.Masked().Addr(), new(big.Int).Sub(size(prefix), big.NewInt(1)))
	return Range{prefix.Masked().Addr(), last}, err
}

// count is the number of addresses; it is capped at the 64 bit range.
func (r Range) count() int64 {
	n := new(big.Int).Sub(number(r.last), number(r.first))
	n.Add(n, big.NewInt(1))
	switch {
	case n.Sign() < 0:
		return 0
	case !n.IsInt64():
		return 1<<63 - 1
	}
	return n.Int64()
}

// At returns the address at a position in a list of ranges.
func At(ranges []Range, position int64) (string, bool) {
	if position < 0 {
		return "", false
	}
	for _, r := range ranges {
		n := r.count()
		if position < n {
			addr, err := add(r.first, big.NewInt(position))
			return addr.String(), err == nil
		}
		position -= n
	}
	return "", false
}
