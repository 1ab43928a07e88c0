package landscape

import (
	"context"
	"strings"
)

// dataRace is what a program says which was built with the race detector.
const dataRace = "WARNING: DATA RACE"

// T is the part of testing.TB that Run needs.
type T interface {
	Helper()
	Context() context.Context
	Cleanup(func())
	Failed() bool
	Logf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Run starts a server for a test and returns when it is ready. It ends with the test,
// and shows what it said if that failed.
func Run(t T, options Options) *Server {
	t.Helper()
	s := RunUnready(t, options)
	if err := s.WaitReady(t.Context()); err != nil {
		t.Fatalf("%v", err)
	}
	return s
}

// RunUnready is Run without waiting.
func RunUnready(t T, options Options) *Server {
	t.Helper()
	s, err := Launch(options)
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if err := s.Kill(); err != nil {
			t.Logf("%v", err)
		}
		if t.Failed() {
			t.Logf("the server said:\n%s", s.Tail(100))
		}
		if _, race, found := strings.Cut(s.Output(), dataRace); found {
			t.Fatalf("the server has a data race:%s", race[:min(len(race), 8000)])
		}
	})
	return s
}
