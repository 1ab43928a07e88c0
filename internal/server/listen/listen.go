// Package listen bounds the connections of an endpoint. A client that reaches its port may open
// connections without end and send nothing: they would take files and memory of the process, and the
// places of those for whom the endpoint is there.
package listen

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Limits say how many connections may exist.
type Limits struct {
	// Total is for all clients together, PerClient for one: an IPv4 address, or a network of IPv6
	// that one client has.
	Total, PerClient int
}

// DefaultLimits suit an endpoint that a few collectors or a kubelet ask.
func DefaultLimits() Limits { return Limits{Total: 128, PerClient: 16} }

// Server returns a server with limits in time, for answers of a moment. A client that sends or
// reads slowly ends soon.
func Server(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ConnContext: withConnection, MaxHeaderBytes: 32 << 10,
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 90 * time.Second,
	}
}

// Listener accepts connections within limits. A new connection is never refused because of those
// that were not trusted yet: the oldest of these is closed instead.
type Listener struct {
	net.Listener
	limits Limits

	mutex sync.Mutex
	// all has the connections, the oldest first.
	all list.List
}

// Limit bounds the connections of a listener.
func Limit(listener net.Listener, limits Limits) *Listener {
	return &Listener{Listener: listener, limits: limits}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			return nil, err // the server of the endpoint says what it did
		}
		c := &connection{Conn: accepted, of: l, client: clientOf(accepted.RemoteAddr())}
		replaced, admitted := l.admit(c)
		if replaced != nil {
			_ = replaced.Close() // nothing was written
		}
		if admitted {
			return c, nil
		}
		_ = accepted.Close()
	}
}

// admit takes a connection in, and returns one that is to be closed for it.
func (l *Listener) admit(c *connection) (replaced *connection, admitted bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	own := 0
	var oldest, oldestOfClient *connection
	for element := l.all.Front(); element != nil; element = element.Next() {
		other := element.Value.(*connection)
		same := other.client == c.client
		if same {
			own++
		}
		if !other.trusted && oldest == nil {
			oldest = other
		}
		if !other.trusted && same && oldestOfClient == nil {
			oldestOfClient = other
		}
	}
	switch {
	case own >= l.limits.PerClient:
		replaced = oldestOfClient
	case l.all.Len() >= l.limits.Total:
		replaced = oldest
	default:
		c.at = l.all.PushBack(c)
		return nil, true
	}
	if replaced == nil {
		return nil, false
	}
	l.all.Remove(replaced.at)
	replaced.at = nil
	c.at = l.all.PushBack(c)
	return replaced, true
}

// connection is a connection that counts.
type connection struct {
	net.Conn
	of     *Listener
	client netip.Prefix

	// at is its place among all, trusted says that its client was accepted; both are guarded by the
	// mutex of the listener.
	at      *list.Element
	trusted bool
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mutex.Lock()
	if c.at != nil {
		c.of.all.Remove(c.at)
		c.at = nil
	}
	c.of.mutex.Unlock()
	return c.Conn.Close()
}

type connectionKey struct{}

// withConnection lets the requests of a connection know it.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if encrypted, is := c.(*tls.Conn); is {
		c = encrypted.NetConn()
	}
	if counted, is := c.(*connection); is {
		return context.WithValue(ctx, connectionKey{}, counted)
	}
	return ctx
}

// Trust notes that the client of a request was accepted: its connection is not closed for others.
func Trust(request *http.Request) {
	if c, is := request.Context().Value(connectionKey{}).(*connection); is {
		c.of.mutex.Lock()
		c.trusted = true
		c.of.mutex.Unlock()
	}
}

// Client identifies the client of a request by its address.
func Client(request *http.Request) netip.Prefix {
	address, err := netip.ParseAddrPort(request.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	return network(address.Addr())
}

func clientOf(remote net.Addr) netip.Prefix {
	if tcp, is := remote.(*net.TCPAddr); is {
		return network(tcp.AddrPort().Addr())
	}
	return netip.Prefix{}
}

// network is what one client has: an address, or 64 bits of IPv6.
func network(address netip.Addr) netip.Prefix {
	address = address.WithZone("").Unmap()
	bits := 32
	if address.Is6() {
		bits = 64
	}
	prefix, err := address.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}
