package network_test

import (
	"errors"
	"math"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/network"
)

func TestShift(t *testing.T) {
	tests := []struct {
		reason, op, text string
		n                int64
		want             string
		err              error
	}{
		{"carry over all bytes", "+", "10.0.0.255", 1, "10.0.1.0", nil},
		{"borrow over all bytes", "-", "10.1.0.0", 1, "10.0.255.255", nil},
		{"host part and prefix stay", "+", "10.0.0.5/24", 3, "10.0.0.8/24", nil},
		{"a range is not left", "+", "10.0.0.5/24", 251, "", network.ErrOutside},
		{"the address space is not left", "+", "255.255.255.255", 1, "", network.ErrOutside},
		{"the address space is not left below its start", "-", "0.0.0.0", 1, "", network.ErrOutside},
		{"next networks, host part masked", "*", "10.0.0.5/24", 3, "10.0.3.0/24", nil},
		{"first part of a split", "/", "10.0.0.0/22", 4, "10.0.0.0/24", nil},
		{"parts are rounded up to a power of two", "/", "10.0.0.0/22", 3, "10.0.0.0/24", nil},
		{"one part is the network", "/", "10.0.0.7/22", 1, "10.0.0.0/22", nil},
		{"too many parts", "/", "10.0.0.0/24", 257, "", network.ErrTooLarge},
		{"no parts", "/", "10.0.0.0/24", 0, "", network.ErrDivisor},
		{"an address is not a network", "*", "10.0.0.1", 2, "", network.ErrNoRange},
		{"text is not an address", "+", "lol", 2, "", network.ErrNoAddress},
		{"IPv6 addresses", "+", "fe80::ffff", 1, "fe80::1:0", nil},
		{"the smallest number", "+", "10.0.0.0", math.MinInt64, "", network.ErrOutside},
		{"taking away the smallest number", "-", "::", math.MinInt64, "::8000:0:0:0", nil},
		{"networks backwards", "*", "10.0.1.0/24", -1, "10.0.0.0/24", nil},
		{"networks behind the last one", "*", "255.255.255.0/24", 1, "", network.ErrOutside},
		{"a huge number of networks", "*", "10.0.0.0/8", math.MaxInt64, "", network.ErrOutside},
		{"a huge number of parts", "/", "::/0", math.MaxInt64, "::/63", nil},
		{"a negative number of parts", "/", "10.0.0.0/8", -1, "", network.ErrDivisor},
		{"parts of an address", "/", "10.0.0.0/32", 1, "10.0.0.0/32", nil},
		{"IPv6 networks", "/", "2001:db8::/64", 2, "2001:db8::/65", nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got, err := network.Shift(test.op, test.text, test.n)
			if got != test.want || !errors.Is(err, test.err) {
				t.Errorf("%s %s %d gives %q, %v", test.text, test.op, test.n, got, err)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		reason, a, b string
		want         int64
		err          error
	}{
		{"over a byte", "10.0.1.0", "10.0.0.0", 256, nil},
		{"backwards, between networks", "10.0.0.0/8", "10.0.0.9/16", -9, nil},
		{"the sixth version", "::1:0", "::", 65536, nil},
		{"two families", "10.0.0.0", "::", 0, network.ErrFamily},
		{"beyond 64 bit", "ffff::", "::", 0, network.ErrNumber},
		{"no address on the left", "x", "10.0.0.1", 0, network.ErrNoAddress},
		{"no address on the right", "10.0.0.1", "", 0, network.ErrNoAddress},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got, err := network.Distance(test.a, test.b); got != test.want || !errors.Is(err, test.err) {
				t.Errorf("%s - %s gives %d, %v", test.a, test.b, got, err)
			}
		})
	}
}

func TestRanges(t *testing.T) {
	var ranges []network.Range
	for _, text := range []string{"10.0.0.250 - 10.0.0.251", "10.1.0.0/31", "10.2.0.9", "10.0.0.9-10.0.0.1"} {
		r, err := network.ParseRange(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		ranges = append(ranges, r)
	}
	want := []string{"10.0.0.250", "10.0.0.251", "10.1.0.0", "10.1.0.1", "10.2.0.9"}
	for i, w := range want {
		if got, ok := network.At(ranges, int64(i)); !ok || got != w {
			t.Errorf("address %d is %q", i, got)
		}
	}
	for _, position := range []int64{-1, 5, 1 << 62} {
		if got, ok := network.At(ranges, position); ok {
			t.Errorf("address %d is %q", position, got)
		}
	}
}
