package landscape

import (
	"net"
	"strconv"
	"testing"
)

// TestFreeAddress: until a server listens, no other process takes its port.
func TestFreeAddress(t *testing.T) {
	// Linux gives ports from here on to outgoing connections.
	const outgoing = 32768
	seen := map[string]bool{}
	for range 50 {
		address, err := FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			t.Fatal(err)
		}
		if number, err := strconv.Atoi(port); err != nil || number >= outgoing {
			t.Errorf("%s may be taken by a connection (%v)", address, err)
		}
		if seen[address] || reserve(address) {
			t.Errorf("%s is given out twice", address)
		}
		seen[address] = true
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if reserve(listener.Addr().String()) {
		t.Error("an address with a listener was given away")
	}
}
