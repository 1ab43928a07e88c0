package supervisor

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"go.landscaper.dev/lab/internal/process"
	"go.landscaper.dev/lab/internal/report"
)

// Spec describes a component: a process and how to check that it is usable.
type Spec struct {
	Name    string
	Command process.Command
	// Ready returns nil once the component does its work; it may be nil.
	Ready func(ctx context.Context) error
}

// The states of a component, as status shows them.
const (
	stateRunning = "running"
	stateStopped = "stopped"
	stateExited  = "exited"
)

const (
	// readyTimeout bounds the wait for a component. It is for a machine with several
	// times the work that it can do; on an idle one, it is never felt.
	readyTimeout = 5 * time.Minute
	// earlyEnds is how often a component may end before it is ready. The programs of
	// Kubernetes wait for each other with short limits of their own (the controller
	// manager ten seconds for a healthy API server) and end when these are over.
	earlyEnds = 5
	// firstPause is the pause after the first early end; it doubles each time.
	firstPause = 200 * time.Millisecond
)

// component is a Spec and its present process.
type component struct {
	spec Spec
	log  *slog.Logger

	mu       sync.Mutex
	process  *process.Process
	stopped  bool
	retired  bool
	restarts int
}

func newComponent(spec Spec, log *slog.Logger) (*component, error) {
	if err := os.MkdirAll(filepath.Dir(spec.Command.Log), 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the log of %s: %w", spec.Name, err)
	}
	return &component{spec: spec, log: log}, nil
}

func (c *component) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.startLocked()
}

// startLocked is start for a caller that holds the lock.
func (c *component) startLocked() error {
	if c.retired {
		return fmt.Errorf("%s has been stopped and is not started again", c.spec.Name)
	}
	started, err := process.Start(c.spec.Command)
	if err != nil {
		return fmt.Errorf("start %s: %w", c.spec.Name, err)
	}
	c.process, c.stopped = started, false
	return nil
}

func (c *component) current() *process.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.process
}

// signal sends a signal. The signals that end a process also mark it as stopped
// on purpose, and are waited for.
func (c *component) signal(signal syscall.Signal) error {
	ends := signal == syscall.SIGKILL || signal == syscall.SIGTERM || signal == syscall.SIGINT
	c.mu.Lock()
	running := c.process
	c.stopped = c.stopped || ends && running != nil
	c.mu.Unlock()
	if running == nil {
		return nil
	}
	if err := running.Signal(signal); err != nil {
		return fmt.Errorf("signal %s: %w", c.spec.Name, err)
	}
	if ends {
		<-running.Done()
	}
	return nil
}

// retire ends a component for good: it cannot be started again.
func (c *component) retire() error {
	c.mu.Lock()
	c.retired = true
	c.mu.Unlock()
	return c.signal(syscall.SIGKILL)
}

// revive starts a component again whose process has ended by itself, and counts that. It leaves a
// component alone that was ended on purpose, or was restarted meanwhile.
func (c *component) revive(ended *process.Process) (again bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.process != ended || c.stopped || c.retired {
		return false, nil
	}
	return true, c.startAgain()
}

// startAgain starts a component and counts that; the caller holds the lock.
func (c *component) startAgain() error {
	if err := c.startLocked(); err != nil {
		return err
	}
	c.restarts++
	return nil
}

func (c *component) restart(ctx context.Context) error {
	if err := c.signal(syscall.SIGKILL); err != nil {
		return err
	}
	c.mu.Lock()
	err := c.startAgain()
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return c.waitReady(ctx)
}

// waitReady returns when the component is usable. A component that ends before
// that is started again a few times.
func (c *component) waitReady(ctx context.Context) error {
	if c.spec.Ready == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	pause := firstPause
	for ends := 1; ; ends++ {
		running := c.current()
		ready, err := c.awaitReady(ctx, running)
		switch {
		case ready:
			return nil
		case err != nil:
			return fmt.Errorf("%s is not ready: %w; the end of its log:\n%s", c.spec.Name, err, c.logEnd())
		case ends >= earlyEnds || c.endedOnPurpose():
			return fmt.Errorf("%s ended before it was ready (%s, attempt %d); the end of its log:\n%s", c.spec.Name, running.Exit(), ends, c.logEnd())
		}
		c.log.Warn("ended before it was ready; it is started again", "component", c.spec.Name, "exit", running.Exit())
		if err := sleep(ctx, pause); err != nil {
			return fmt.Errorf("start %s again: %w", c.spec.Name, err)
		}
		pause *= 2
		if _, err := c.revive(running); err != nil {
			return err
		}
	}
}

// awaitReady asks until the component is ready, until its process has ended, or
// until the time is over, which is an error that says what is missing.
func (c *component) awaitReady(ctx context.Context, running *process.Process) (bool, error) {
	retry := time.NewTicker(25 * time.Millisecond)
	defer retry.Stop()
	for {
		err := c.spec.Ready(ctx)
		if err == nil {
			return true, nil
		}
		select {
		case <-running.Done():
			return false, nil
		case <-ctx.Done():
			return false, err
		case <-retry.C:
		}
	}
}

// endedOnPurpose says that the end of the process was requested.
func (c *component) endedOnPurpose() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stopped || c.retired
}

func sleep(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

func (c *component) logEnd() string {
	const length = 2000
	content, err := os.ReadFile(c.spec.Command.Log)
	if err != nil {
		return err.Error()
	}
	if len(content) > length {
		content = content[len(content)-length:]
	}
	return string(bytes.TrimSpace(content))
}

func (c *component) report() report.Component {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := report.Component{Name: c.spec.Name, Log: c.spec.Command.Log, Restarts: c.restarts, State: stateStopped}
	if c.process == nil {
		return r
	}
	select {
	case <-c.process.Done():
		r.Exit = c.process.Exit()
		if !c.stopped {
			r.State = stateExited
		}
	default:
		r.State = stateRunning
		r.PID = c.process.PID()
		r.MemoryBytes = residentMemory(r.PID)
	}
	return r
}
