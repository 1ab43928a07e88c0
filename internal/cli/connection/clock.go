package connection

import (
	"net/http"
	"sync/atomic"
	"time"
)

// tolerance is by how much the clocks may differ before that matters: an API server tells
// the time in full seconds, and its answer is on the way for a moment.
const tolerance = 3 * time.Second

// clock learns from the answers of an API server by how much its time differs from ours.
type clock struct {
	next http.RoundTripper
	// ahead is by how much the API server is ahead.
	ahead *atomic.Int64
}

// RoundTrip implements http.RoundTripper.
func (c clock) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if err != nil {
		return response, err // a transport returns what the one below it returns
	}
	if at, err := http.ParseTime(response.Header.Get("Date")); err == nil {
		ahead := time.Until(at)
		if ahead.Abs() < tolerance {
			ahead = 0
		}
		c.ahead.Store(int64(ahead))
	}
	return response, nil
}

// Now is the time of the API server, as far as it is known: objects tell when something
// happened by its clock, or by those of controllers that are set like it.
func (c *Connection) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }
