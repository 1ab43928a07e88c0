// Package ports reserves loopback ports for programs that cannot choose a free
// port themselves.
package ports

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// The range lies below the ports that Linux hands to outgoing connections and to listeners on port
// 0 (32768 and up), so no process gets one by chance.
const (
	first = 20000
	last  = 32000
)

// Reservations are the ports that this process holds. A reservation is a
// listener on an abstract Unix socket named after the port: the kernel grants
// each name once and takes it back when the process ends, however it ends, so
// that two labs never share a port and no lock file is left behind.
type Reservations struct {
	mu   sync.Mutex
	held []net.Listener
}

// Reserve returns a port on 127.0.0.1 that no process listens on and that no other lab will choose
// until Release or the end of this process.
func (r *Reservations) Reserve() (int, error) {
	const attempts = 2000
	for range attempts {
		port := first + rand.IntN(last-first)
		if r.try(port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("reserve a port: tried %d ports between %d and %d on 127.0.0.1, none is free", attempts, first, last)
}

func (r *Reservations) try(port int) bool {
	lock, err := net.Listen("unix", "@go.landscaper.dev/lab/port/"+strconv.Itoa(port))
	if err != nil {
		return false
	}
	probe, err := net.Listen("tcp", Address(port))
	if err != nil {
		_ = lock.Close()
		return false
	}
	_ = probe.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = append(r.held, lock)
	return true
}

// Release gives all ports back.
func (r *Reservations) Release() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, lock := range r.held {
		errs = append(errs, lock.Close())
	}
	r.held = nil
	return errors.Join(errs...)
}

// Address is the loopback address with the port.
func Address(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
