// Package landscape runs the server program against the clusters of a lab, for tests,
// benchmarks and the demo. It starts, stops and measures the process, collects what it
// says, and counts its requests.
package landscape

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.landscaper.dev/internal/server"
	"go.landscaper.dev/test/lab"
)

// labArgs are what every server in a lab gets: settings for a cluster, a registry and
// targets on one machine, and messages about every step.
var labArgs = []string{"--metrics-address", "0", "--egress-allow-loopback", "--verbose"}

// Options say how a server is started.
type Options struct {
	// Kubeconfig is what the server connects to the resource cluster with.
	Kubeconfig string
	// Args are further flags of "landscaper run"; they go before those of the lab.
	Args []string
	// Env is added to the environment of this process.
	Env []string
	// Log is a file for what the server says; without one, it is kept in memory.
	Log string
	// Program is the program; the one in bin of this repository by default.
	Program string
	// Quiet leaves out the messages about every step, which cost time.
	Quiet bool
	// Flags are all that the program gets, made for the address of its health, if it is
	// another one than "landscaper run".
	Flags func(health string) []string
	// Group puts the server into a process group of its own, so that Ctrl-C in a
	// terminal is for its owner only.
	Group bool
	// ControlGroup is the directory of a control group of version 2 in which the server is started.
	ControlGroup string
}

// Server is a server process. It cannot outlive the process that started it.
type Server struct {
	options Options
	health  string
	output  *output

	mutex   sync.Mutex
	command *exec.Cmd
	ended   chan struct{}
}

// Start starts a server and returns when it is ready. A server that does not get ready
// is ended.
func Start(ctx context.Context, options Options) (*Server, error) {
	s, err := Launch(options)
	if err != nil {
		return nil, err
	}
	if err := s.WaitReady(ctx); err != nil {
		return nil, errors.Join(err, s.Kill())
	}
	return s, nil
}

// Launch starts a server without waiting for it.
func Launch(options Options) (*Server, error) {
	var err error
	if options.Program == "" {
		if options.Program, err = Program("landscaper"); err != nil {
			return nil, err
		}
	}
	s := &Server{options: options}
	if s.output, err = newOutput(options.Log); err != nil {
		return nil, err
	}
	if s.health, err = FreeAddress(); err != nil {
		return nil, err
	}
	return s, s.launch()
}

func (s *Server) launch() error {
	command := exec.Command(s.options.Program, s.args()...)
	command.Env = append(os.Environ(), s.options.Env...)
	command.Stdout, command.Stderr = s.output, s.output
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: s.options.Group}
	if s.options.ControlGroup != "" {
		directory, err := os.Open(s.options.ControlGroup)
		if err != nil {
			return fmt.Errorf("start the server: %w", err)
		}
		defer directory.Close() //nolint:errcheck // nothing is written
		command.SysProcAttr.UseCgroupFD, command.SysProcAttr.CgroupFD = true, int(directory.Fd())
	}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start the server: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.command, s.ended = command, ended
	return nil
}

func (s *Server) args() []string {
	if s.options.Flags != nil {
		return s.options.Flags(s.health)
	}
	args := slices.Concat([]string{"run", "--kubeconfig", s.options.Kubeconfig, "--health-address", s.health}, labArgs, s.options.Args)
	if s.options.Quiet {
		args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--verbose" })
	}
	return args
}

// WaitReady returns when the server says that it is ready, or when it has ended.
func (s *Server) WaitReady(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-s.Ended():
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := server.WaitReady(ctx, s.health); err != nil {
		return fmt.Errorf("the server is not ready: %w\n%s", err, s.Tail(50))
	}
	return nil
}

// AwaitReadiness returns when /readyz answers with a status and a text that fits.
func (s *Server) AwaitReadiness(ctx context.Context, status int, fits func(text string) bool) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.health+"/readyz", nil)
		if err != nil {
			return err
		}
		said := ""
		if response, err := http.DefaultClient.Do(request); err == nil {
			body, _ := io.ReadAll(response.Body) // what is missing shows in the answer
			_ = response.Body.Close()
			if said = string(body); response.StatusCode == status && fits(said) {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for readiness %d: %w; last: %s", status, ctx.Err(), said)
		case <-s.Ended():
			return fmt.Errorf("the server has ended; last: %s", said)
		case <-tick.C:
		}
	}
}

// Health is the address of /healthz and /readyz.
func (s *Server) Health() string { return s.health }

// PID is the id of the process.
func (s *Server) PID() int { return s.process().Process.Pid }

func (s *Server) process() *exec.Cmd {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.command
}

// Ended is closed when the process has ended.
func (s *Server) Ended() <-chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.ended
}

// ExitCode is how the process has ended; it may be asked for then only.
func (s *Server) ExitCode() int { return s.process().ProcessState.ExitCode() }

// Signal sends a signal.
func (s *Server) Signal(signal os.Signal) error {
	if err := s.process().Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal the server: %w", err)
	}
	return nil
}

// Stop asks the server to end and returns when it has.
func (s *Server) Stop() error { return s.end(syscall.SIGTERM) }

// Kill ends the server at once and returns when it has ended.
func (s *Server) Kill() error { return s.end(syscall.SIGKILL) }

func (s *Server) end(signal os.Signal) error {
	if err := s.Signal(signal); err != nil {
		return err
	}
	<-s.Ended()
	return nil
}

// Restart starts a server that has ended once more, or ends it before, and returns
// when it is ready. What it says follows what it has said before.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.Kill(); err != nil {
		return err
	}
	if err := s.launch(); err != nil {
		return err
	}
	return s.WaitReady(ctx)
}

// Output is what the server has said so far.
func (s *Server) Output() string { return s.output.String() }

// Tail is the end of what the server has said.
func (s *Server) Tail(lines int) string {
	all := strings.Split(s.Output(), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// programs names the directory of programs that take the place of those in bin: of what
// is not in it, that in bin is used.
const programs = "LANDSCAPER_PROGRAMS"

// Program finds a program in bin of the repository that the working directory is in.
func Program(name string) (string, error) {
	root, err := lab.Root()
	if err != nil {
		return "", fmt.Errorf("find %s: %w", name, err)
	}
	if other := os.Getenv(programs); other != "" {
		if _, err := os.Stat(filepath.Join(other, name)); err == nil {
			return filepath.Join(other, name), nil
		}
	}
	program := filepath.Join(root, "bin", name)
	if _, err := os.Stat(program); err != nil {
		return "", fmt.Errorf("%s is missing: build it with \"make build\": %w", program, err)
	}
	return program, nil
}
