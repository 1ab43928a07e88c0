package egress

import (
	"context"
	"net"

	"golang.org/x/time/rate"
)

// The sustained rate of writes to one connection. In HTTP/2 a server can demand an answer with
// every few bytes that it sends, and each answer costs a write; a server that does so without end
// is slowed down. Uploads write 16 KiB at a time.
const (
	writesPerSecond = 5_000
	writesAtOnce    = 20_000
)

// paced is a connection with that rate of writes. The context belongs to the connection, since
// requests share it: a write that waits for the rate ends when the connection is closed.
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
	return p.Conn.Write(text) // unchanged: callers know the errors of a connection
}

// Close implements net.Conn.
func (p *paced) Close() error {
	p.cancel()
	return p.Conn.Close() // unchanged: callers know the errors of a connection
}
