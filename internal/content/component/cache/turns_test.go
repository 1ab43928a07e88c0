package cache

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"
)

// slowServer is asked by work, which continues until it gets the answer.
type slowServer struct {
	turns  turns
	asked  chan struct{}
	answer chan error
	got    chan error
}

func newSlowServer() *slowServer {
	return &slowServer{asked: make(chan struct{}), answer: make(chan error), got: make(chan error, 100)}
}

func (s *slowServer) ask(ctx context.Context) {
	s.got <- s.turns.do(ctx, "key", func() error {
		s.asked <- struct{}{}
		select {
		case err := <-s.answer:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// arrive lets so many ask, and returns when all of them wait for their turn.
func (s *slowServer) arrive(ctx context.Context, t *testing.T, many int) {
	t.Helper()
	count := func() uint64 {
		s.turns.mu.Lock()
		defer s.turns.mu.Unlock()
		return s.turns.events
	}
	want := count() + uint64(many)
	for range many {
		go s.ask(ctx)
	}
	for deadline := time.Now().Add(time.Minute); count() < want; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("only %d of %d have come", count(), want)
		}
	}
}

// TestFailuresAreShared: a server that takes long to fail is asked once for all that wait, and
// not by one after the other; but no caller gets a failure of before.
func TestFailuresAreShared(t *testing.T) {
	const waiting = 50
	errFirst, errSecond := errors.New("first"), errors.New("second")
	s := newSlowServer()
	go s.ask(t.Context())
	<-s.asked
	s.arrive(t.Context(), t, waiting)
	s.answer <- errFirst
	if err := <-s.got; !errors.Is(err, errFirst) {
		t.Fatalf("the first one gets %v", err)
	}
	<-s.asked
	s.answer <- errSecond
	for range waiting {
		select {
		case err := <-s.got:
			if !errors.Is(err, errSecond) {
				t.Errorf("one that waited gets %v, want %v", err, errSecond)
			}
		case <-s.asked:
			t.Fatal("the server is asked again")
		}
	}
}

// TestGivingUpIsNotShared: that a caller gave up says nothing about the server.
func TestGivingUpIsNotShared(t *testing.T) {
	s := newSlowServer()
	go s.ask(t.Context())
	<-s.asked
	first, giveUp := context.WithCancel(t.Context())
	s.arrive(first, t, 1)
	s.answer <- nil
	if err := <-s.got; err != nil {
		t.Fatal(err)
	}
	<-s.asked
	s.arrive(t.Context(), t, 1)
	giveUp()
	if err := <-s.got; !errors.Is(err, context.Canceled) {
		t.Fatalf("the one that gave up gets %v", err)
	}
	<-s.asked
	s.answer <- nil
	if err := <-s.got; err != nil {
		t.Errorf("the other one gets %v", err)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	s := newSlowServer()
	go s.ask(t.Context())
	<-s.asked
	ctx, giveUp := context.WithCancel(t.Context())
	s.arrive(ctx, t, 1)
	giveUp()
	if err := <-s.got; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.answer <- nil
	<-s.got
}
