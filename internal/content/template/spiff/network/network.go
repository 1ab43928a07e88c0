// Package network computes with IP addresses and CIDR ranges written as text.
package network

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"
)

// Errors of the package. They never carry the texts they are about, because
// these may be confidential.
var (
	ErrNoAddress = errors.New("no IP address or CIDR")
	ErrNoRange   = errors.New("no CIDR")
	ErrOutside   = errors.New("result is outside of the address range")
	ErrFamily    = errors.New("IPv4 and IPv6 cannot be mixed")
	ErrDivisor   = errors.New("divisor must be a positive number")
	ErrTooLarge  = errors.New("divisor too large for CIDR network size")
	ErrNumber    = errors.New("number of addresses does not fit into 64 bit")
)

// Shift applies an operator of the language to an address and an integer:
// "+" and "-" move it, "*" gives the n-th next network of the same size, "/"
// the first part of a network that is split.
func Shift(op, text string, n int64) (string, error) {
	switch op {
	case "+", "-":
		offset := big.NewInt(n)
		if op == "-" {
			offset.Neg(offset)
		}
		return move(text, offset)
	case "*":
		return multiply(text, n)
	}
	return divide(text, n)
}

// move shifts an address, or the address of a range that has to stay in it.
func move(text string, offset *big.Int) (string, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		moved, err := add(addr, offset)
		if err != nil {
			return "", err
		}
		return moved.String(), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return "", ErrNoAddress
	}
	moved, err := add(prefix.Addr(), offset)
	if err != nil {
		return "", err
	}
	if !prefix.Masked().Contains(moved) {
		return "", ErrOutside
	}
	return netip.PrefixFrom(moved, prefix.Bits()).String(), nil
}

func multiply(text string, n int64) (string, error) {
	prefix, err := parse(text)
	if err != nil {
		return "", err
	}
	prefix = prefix.Masked()
	offset := new(big.Int).Mul(size(prefix), big.NewInt(n))
	start, err := add(prefix.Addr(), offset)
	if err != nil {
		return "", err
	}
	return netip.PrefixFrom(start, prefix.Bits()).String(), nil
}

func divide(text string, n int64) (string, error) {
	prefix, err := parse(text)
	if err != nil {
		return "", err
	}
	if n < 1 {
		return "", ErrDivisor
	}
	bits := prefix.Bits()
	for parts := big.NewInt(1); parts.Cmp(big.NewInt(n)) < 0; parts.Lsh(parts, 1) {
		bits++
	}
	if bits > prefix.Addr().BitLen() {
		return "", ErrTooLarge
	}
	return netip.PrefixFrom(prefix.Masked().Addr(), bits).String(), nil
}

// Distance counts the addresses between two addresses or range addresses.
func Distance(a, b string) (int64, error) {
	x, err := address(a)
	if err != nil {
		return 0, err
	}
	y, err := address(b)
	if err != nil {
		return 0, err
	}
	if x.Is4() != y.Is4() {
		return 0, ErrFamily
	}
	diff := new(big.Int).Sub(number(x), number(y))
	if !diff.IsInt64() {
		return 0, ErrNumber
	}
	return diff.Int64(), nil
}

func address(text string) (netip.Addr, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr, nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Addr{}, ErrNoAddress
	}
	return prefix.Addr(), nil
}

func parse(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, ErrNoRange
	}
	return prefix, nil
}

// First is the first address of a range.
func First(cidr string) (string, error) {
	prefix, err := parse(cidr)
	if err != nil {
		return "", err
	}
	return prefix.Masked().Addr().String(), nil
}

// Last is the last address of a range.
func Last(cidr string) (string, error) {
	prefix, err := parse(cidr)
	if err != nil {
		return "", err
	}
	last, err := add(prefix.Masked().Addr(), new(big.Int).Sub(size(prefix), big.NewInt(1)))
	return last.String(), err
}

// Count is the number of addresses of a range.
func Count(cidr string) (int64, error) {
	prefix, err := parse(cidr)
	if err != nil {
		return 0, err
	}
	n := size(prefix)
	if !n.IsInt64() {
		return 0, ErrNumber
	}
	return n.Int64(), nil
}

// Contains reports whether an address is in a range.
func Contains(cidr, addr string) (bool, error) {
	prefix, err := parse(cidr)
	if err != nil {
		return false, err
	}
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return false, ErrNoAddress
	}
	return prefix.Contains(a), nil
}

func size(p netip.Prefix) *big.Int {
	return new(big.Int).Lsh(big.NewInt(1), uint(p.Addr().BitLen()-p.Bits()))
}

func number(a netip.Addr) *big.Int { return new(big.Int).SetBytes(a.AsSlice()) }

func add(a netip.Addr, offset *big.Int) (netip.Addr, error) {
	sum := new(big.Int).Add(number(a), offset)
	if sum.Sign() < 0 || sum.BitLen() > a.BitLen() {
		return netip.Addr{}, ErrOutside
	}
	bytes := sum.FillBytes(make([]byte, a.BitLen()/8))
	moved, ok := netip.AddrFromSlice(bytes)
	if !ok {
		return netip.Addr{}, fmt.Errorf("address: %w", ErrOutside)
	}
	return moved, nil
}
