package server

import (
	"context"
	"testing"
)

// counted remembers what was counted last.
type counted [3]string

// Increment implements clientmetrics.ResultMetric.
func (c *counted) Increment(_ context.Context, code, method, host string) {
	*c = counted{code, method, host}
}

func TestHosts(t *testing.T) {
	tests := []struct {
		reason     string
		code, host string
		want       counted
	}{
		{"our own cluster", "409", "resource.example.org:443", counted{"409", "GET", "resource"}},
		{"the address of a target is the user's", "200", "secret.example.org", counted{"2xx", "GET", "target"}},
		{"what does not answer has no code", "<error>", "secret.example.org", counted{"<error>", "GET", "target"}},
		{"a server may answer with any number", "777", "secret.example.org", counted{"7xx", "GET", "target"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var got counted
			hosts{own: "resource.example.org:443", next: &got}.Increment(t.Context(), test.code, "GET", test.host)
			if got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
