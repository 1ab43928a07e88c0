package egress

import (
	"context"
	"net"

	"golang.org/x/time/rate"
)

// How often one connection is written to for long. In HTTP/2 a server can ask for
// answers with every few bytes that it sends, and each costs us a write; who does that
// without end is made to wait. Uploads write 16 KiB at a time.
const (
	writesPerSecond = 5_000
	writesAtOnce    = 20_000
)

// paced is a connection that is not written to more often than that.
// The context is the connection's own, since requests share it: whoever waits for the pace
// is let go when the connection is closed.
type paced struct {
	net.Conn
	limiter *rate.Limiter
	context context.Context // it ends with the connection
	cancel  context.CancelFunc
}

func pace(connection net.Conn, limiter *rate.Limiter) net.Conn {
	p := &paced{Conn: connection, limiter: limiter}
	p.context, p.cancel = context.WithCancel(context.Background())
	return p
}

// Write implements net.Conn.
func (p *paced) Write(text []byte) (int, error) {
	if err := p.limiter.Wait(p.context); err != nil {
		return 0, net.ErrClosed
	}
	return p.Conn.Write(text) // it is what a connection says
}

// Close implements net.Conn.
func (p *paced) Close() error {
	p.cancel()
	return p.Conn.Close() // it is what a connection says
}
