package landscape

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// The ports are below those that Linux gives to outgoing connections (32768 and up), of which there
// are many in a lab, and below those of labs.
const (
	firstPort = 12000
	lastPort  = 20000
)

// reserved are listeners on abstract Unix sockets that are named after ports: the kernel
// grants each name once, and takes it back when this process ends.
var reserved struct {
	mutex     sync.Mutex
	listeners []net.Listener
}

// FreeAddress returns an address of this machine without a listener that no other test gets before
// this process ends: its server may start later, and restart.
func FreeAddress() (string, error) {
	const attempts = 200
	for range attempts {
		if address := net.JoinHostPort("127.0.0.1", strconv.Itoa(firstPort+rand.IntN(lastPort-firstPort))); reserve(address) {
			return address, nil
		}
	}
	return "", fmt.Errorf("find a free port: tried %d between %d and %d", attempts, firstPort, lastPort)
}

func reserve(address string) bool {
	name, err := net.Listen("unix", "@go.landscaper.dev/test/"+address)
	if err != nil {
		return false
	}
	probe, err := net.Listen("tcp", address)
	if err != nil {
		_ = name.Close()
		return false
	}
	_ = probe.Close()
	reserved.mutex.Lock()
	defer reserved.mutex.Unlock()
	reserved.listeners = append(reserved.listeners, name)
	return true
}
