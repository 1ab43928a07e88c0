package ports

import (
	"net"
	"testing"
)

func TestAPortIsReservedOnce(t *testing.T) {
	var ours, theirs Reservations
	defer func() { _ = theirs.Release() }()
	port, err := ours.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	if theirs.try(port) {
		t.Error("a reserved port was reserved again")
	}
	if err := ours.Release(); err != nil {
		t.Fatal(err)
	}
	if !theirs.try(port) {
		t.Error("a released port cannot be reserved")
	}
}

func TestAPortInUseIsNotReserved(t *testing.T) {
	var r Reservations
	defer func() { _ = r.Release() }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if r.try(listener.Addr().(*net.TCPAddr).Port) {
		t.Error("a port that has a listener was reserved")
	}
}
