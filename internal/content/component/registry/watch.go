package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Timeouts end exchanges with servers that do not answer, or only now and then.
type Timeouts struct {
	// Connect is how long a connection may take.
	Connect time.Duration
	// Answer is how long a server may take until it begins to answer.
	Answer time.Duration
	// Stall is how long an answer may stand still.
	Stall time.Duration
	// Rate is how many bytes in a second an answer must have at least, while it is
	// waited for; it is looked at after each time of Stall.
	Rate int64
	// Outage is how long a host is left alone after it did not answer; zero asks it
	// again at once. It becomes longer with each time.
	Outage time.Duration
}

// DefaultTimeouts suit registries on the Internet and a user who waits.
func DefaultTimeouts() Timeouts {
	return Timeouts{Connect: 15 * time.Second, Answer: 30 * time.Second, Stall: 30 * time.Second, Rate: 64}
}

// ServerTimeouts suit a process that serves many tenants: a tenant that blocks a worker delays
// others. They are shorter than the time that a template has: a template that waits for a registry
// must get the registry's error before its own time is over.
func ServerTimeouts() Timeouts {
	return Timeouts{Connect: 5 * time.Second, Answer: 10 * time.Second, Stall: 5 * time.Second, Rate: 16 << 10, Outage: 10 * time.Second}
}

// ErrStalled says that an answer stopped, or came too slowly.
var ErrStalled = errors.New("the server stopped sending")

// OutageError says that a host was not asked, because it did not answer just before. The error
// wraps its cause, so another attempt may succeed.
type OutageError struct {
	Host string
	// Left is how long the host is left alone.
	Left  time.Duration
	Cause error
}

// Error implements error.
func (e *OutageError) Error() string {
	return fmt.Sprintf("%s did not answer a moment ago and is not asked again for %s: %v", e.Host, e.Left.Round(time.Second), e.Cause)
}

// Unwrap returns why the host is left alone.
func (e *OutageError) Unwrap() error { return e.Cause }

// Timeout implements net.Error.
func (e *OutageError) Timeout() bool { return true }

// Temporary implements net.Error.
func (e *OutageError) Temporary() bool { return true }

// Outages records which hosts did not answer which tenant, so that a host that hangs delays one
// request and not each of them. Tenants are separate: a path of a host that hangs for one tenant
// says nothing about the paths of others.
type Outages struct {
	period time.Duration
	now    func() time.Time
	mu     sync.Mutex
	known  map[exchange]outage
}

// exchange is a tenant and the host that it asks.
type exchange struct{ tenant, host string }

type outage struct {
	until time.Time
	// times is how often the host did not answer in a row.
	times int
	cause error
}

const (
	// maxOutages bounds how many hosts are remembered.
	maxOutages = 10_000
	// maxOutage is how many periods a host is left alone at most.
	maxOutage = 6
)

// NewOutages returns a memory; a period of zero remembers nothing.
func NewOutages(period time.Duration, now func() time.Time) *Outages {
	return &Outages{period: period, now: now, known: map[exchange]outage{}}
}

// check returns an error if a host is left alone.
func (o *Outages) check(at exchange) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	known, exists := o.known[at]
	if left := known.until.Sub(o.now()); exists && left > 0 {
		return &OutageError{Host: at.host, Left: left, Cause: known.cause}
	}
	return nil
}

// failed notes that a host did not answer.
func (o *Outages) failed(at exchange, cause error) {
	if o.period <= 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	known, exists := o.known[at]
	if !exists && len(o.known) >= maxOutages {
		o.forget()
	}
	known.times = min(known.times+1, maxOutage)
	known.cause, known.until = cause, o.now().Add(time.Duration(known.times)*o.period)
	o.known[at] = known
}

// forget drops the outages that are over, or all if none is over.
func (o *Outages) forget() {
	now := o.now()
	for at, known := range o.known {
		if !now.Before(known.until) {
			delete(o.known, at)
		}
	}
	if len(o.known) >= maxOutages {
		clear(o.known)
	}
}

// answered notes that a host has delivered something.
func (o *Outages) answered(at exchange) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.known, at)
}

// Watch watches over exchanges for one tenant.
type Watch struct {
	Timeouts Timeouts
	Outages  *Outages
	Tenant   string
}

// Send sends a request unless its host is left alone, and watches over the answer.
// The total, if it is not zero, is how long the whole answer may take.
func (w Watch) Send(next http.RoundTripper, request *http.Request, total time.Duration) (*http.Response, error) {
	at := exchange{tenant: w.Tenant, host: strings.ToLower(request.URL.Host)}
	if w.Outages != nil {
		if err := w.Outages.check(at); err != nil {
			return nil, err
		}
	}
	response, err := next.RoundTrip(request)
	if err != nil {
		if w.Outages != nil && unanswered(request.Context(), err) {
			w.Outages.failed(at, err)
		}
		return nil, err // the HTTP client tells method and address
	}
	answer := &answer{body: response.Body, timeouts: w.Timeouts, total: total}
	if w.Outages != nil {
		answer.failed = func(err error) { w.Outages.failed(at, err) }
		if request.Method == http.MethodGet {
			answer.ended = func() { w.Outages.answered(at) }
		}
	}
	response.Body = answer
	return response, nil
}

// unanswered reports whether a host did not answer in time; a caller that gave up does not count.
func unanswered(ctx context.Context, err error) bool {
	var network net.Error
	return ctx.Err() == nil && errors.As(err, &network) && network.Timeout()
}

// answer ends an answer that stands still or drips. Only the time in which it is
// waited for counts, not that of a slow reader.
type answer struct {
	body          io.ReadCloser
	timeouts      Timeouts
	total         time.Duration
	waited, whole time.Duration
	came          int64
	failed        func(error)
	ended         func()
}

// Read implements io.Reader.
func (a *answer) Read(p []byte) (int, error) {
	if a.timeouts.Stall <= 0 {
		return a.body.Read(p) // a reader returns io.EOF unwrapped
	}
	begin := time.Now()
	// Closing the body ends the read.
	timer := time.AfterFunc(a.timeouts.Stall, func() { _ = a.body.Close() })
	n, err := a.body.Read(p)
	fired := !timer.Stop()
	took := time.Since(begin)
	a.waited, a.whole, a.came = a.waited+took, a.whole+took, a.came+int64(n)
	switch {
	case errors.Is(err, io.EOF):
		if a.ended != nil {
			a.ended()
		}
		return n, err // a reader returns io.EOF unwrapped
	case fired:
		// Also if something came in that moment: the body is closed.
		return n, a.stalled("nothing for %s", a.timeouts.Stall)
	case err != nil:
		return n, err // the caller says what was read
	case a.total > 0 && a.whole > a.total:
		return n, a.stalled("not complete after %s", a.total)
	case a.waited >= a.timeouts.Stall:
		if slow := float64(a.came) < float64(a.timeouts.Rate)*a.waited.Seconds(); slow {
			return n, a.stalled("less than %d bytes in a second", a.timeouts.Rate)
		}
		a.waited, a.came = 0, 0
	}
	return n, nil
}

func (a *answer) stalled(format string, args ...any) error {
	err := fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrStalled)
	_ = a.body.Close()
	if a.failed != nil {
		a.failed(err)
	}
	return err
}

// Close implements io.Closer.
func (a *answer) Close() error { return a.body.Close() }
