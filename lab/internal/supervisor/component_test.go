package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.landscaper.dev/lab/internal/process"
)

// impatient is a component that ends by itself a number of times before it stays.
// It is ready when it stays.
func impatient(t *testing.T, ends int) Spec {
	t.Helper()
	directory := t.TempDir()
	ready := filepath.Join(directory, "ready")
	script := fmt.Sprintf(`echo x >> starts; test $(wc -l < starts) -le %d && { echo losing patience; exit 7; }; touch ready; exec sleep 600`, ends)
	return Spec{
		Name: "impatient", Command: process.Command{
			Program: "/bin/sh", Args: []string{"-c", script}, Env: os.Environ(),
			Dir: directory, Log: filepath.Join(directory, "log"),
		},
		Ready: func(context.Context) error { _, err := os.Stat(ready); return err },
	}
}

func started(t *testing.T, spec Spec) *component {
	t.Helper()
	c, err := newComponent(spec, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.retire(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestWaitReady(t *testing.T) {
	tests := []struct {
		reason       string
		ends         int
		wantRestarts int
		wantErr      string
	}{
		{"a component that stays is never started again", 0, 0, ""},
		{"a component that gives up early is started again", 2, 2, ""},
		{"a component that never stays is given up, and its log is shown", 1000, earlyEnds - 1, "losing patience"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := started(t, impatient(t, test.ends))
			err := c.waitReady(t.Context())
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("error %v, want %q", err, test.wantErr)
			}
			if got := c.report().Restarts; got != test.wantRestarts {
				t.Errorf("%d restarts, want %d", got, test.wantRestarts)
			}
		})
	}
}

func TestWaitReadyLeavesAloneWhatWasEndedOnPurpose(t *testing.T) {
	spec := impatient(t, 0)
	asked := make(chan struct{}, 1)
	spec.Ready = func(context.Context) error {
		select {
		case asked <- struct{}{}:
		default:
		}
		return errors.New("never")
	}
	c := started(t, spec)
	result := make(chan error, 1)
	go func() { result <- c.waitReady(t.Context()) }()
	<-asked
	if err := c.signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err == nil || c.report().Restarts != 0 {
		t.Errorf("after a kill: %v, %d restarts; want an error and none", err, c.report().Restarts)
	}
}

// TestWaitReadyKeepsAnEnd: who ends a component in the pause before its next start has
// ended it.
func TestWaitReadyKeepsAnEnd(t *testing.T) {
	c := started(t, impatient(t, 1000))
	c.log = slog.New(onRecord(func() {
		if err := c.signal(syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}))
	if err := c.waitReady(t.Context()); err == nil {
		t.Error("the component is ready")
	}
	if got := c.report(); got.Restarts != 0 || got.State != stateStopped {
		t.Errorf("%d restarts, state %s; want none, and that it is stopped", got.Restarts, got.State)
	}
}

// TestRevive: a component that has ended by itself is started again, but only once, and not if its
// end was requested.
func TestRevive(t *testing.T) {
	tests := []struct {
		reason       string
		before       func(*component) error
		again        bool
		wantRestarts int
	}{
		{"a component that has ended by itself is started again", func(*component) error { return nil }, true, 1},
		{"a component that was ended on purpose stays ended", func(c *component) error { return c.signal(syscall.SIGKILL) }, false, 0},
		{"a component that was restarted meanwhile is not started once more", func(c *component) error { c.spec.Ready = nil; return c.restart(t.Context()) }, false, 1},
		{"a component of a lab that is stopping stays ended", (*component).retire, false, 0},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := started(t, impatient(t, 1000))
			ended := c.current()
			<-ended.Done()
			if err := test.before(c); err != nil {
				t.Fatal(err)
			}
			again, err := c.revive(ended)
			if err != nil || again != test.again || c.report().Restarts != test.wantRestarts {
				t.Errorf("started again: %t, %d restarts, %v", again, c.report().Restarts, err)
			}
		})
	}
}

// onRecord is a log that does something at each record.
type onRecord func()

func (f onRecord) Enabled(context.Context, slog.Level) bool  { return true }
func (f onRecord) Handle(context.Context, slog.Record) error { f(); return nil }
func (f onRecord) WithAttrs([]slog.Attr) slog.Handler        { return f }
func (f onRecord) WithGroup(string) slog.Handler             { return f }

// TestBringUp shows that a component starts when those before it are ready.
func TestBringUp(t *testing.T) {
	s := &Supervisor{log: slog.New(slog.DiscardHandler), components: map[string]*component{}}
	first, second := impatient(t, 1), impatient(t, 0)
	first.Name, second.Name = "first", "second"
	firstReady := filepath.Join(first.Command.Dir, "ready")
	second.Command.Args = []string{"-c", "test -e " + firstReady + " && touch ready && exec sleep 600"}
	if err := s.bringUp(t.Context(), first, second); err != nil {
		t.Error(err)
	}
	for _, c := range s.all() {
		if c.spec.Name == "second" && c.report().Restarts != 0 {
			t.Error("the second was started before the first was ready")
		}
		if err := c.retire(); err != nil {
			t.Error(err)
		}
	}
}
