package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestKillEndsTheWholeGroup(t *testing.T) {
	directory := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(directory, "ready"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Start(Command{
		Program: "/bin/sh", Args: []string{"-c", "sleep 1000 & echo $! > ready; wait"},
		Dir: directory, Env: os.Environ(), Log: filepath.Join(directory, "log"),
	})
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(filepath.Join(directory, "ready")) // waits for the writer
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if p.Exit() != "signal: killed" {
		t.Errorf("exit %s", p.Exit())
	}
	var grandchild int
	if _, err := fmt.Sscan(string(said), &grandchild); err != nil {
		t.Fatal(err)
	}
	awaitEnd(t, grandchild)
	if err := p.Kill(); err != nil {
		t.Errorf("a second kill: %v", err)
	}
}

// TestStopIsOver: after a stop, no thread of the process works any more.
func TestStopIsOver(t *testing.T) {
	const busy = "TEST_OF_STOP_IS_BUSY"
	if os.Getenv(busy) != "" {
		for range 8 {
			go func() {
				for {
					_ = os.Getpid()
				}
			}()
		}
		fmt.Println("busy")
		<-make(chan struct{})
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	log := filepath.Join(directory, "log")
	if err := syscall.Mkfifo(log, 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := os.OpenFile(log, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	p, err := Start(Command{Program: self, Args: []string{"-test.run=^TestStopIsOver$"}, Dir: directory, Env: append(os.Environ(), busy+"=1", "GOMAXPROCS=8"), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if _, err := said.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := p.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		for thread, state := range threads(t, p.PID()) {
			if state != "T" {
				t.Errorf("thread %s is in state %s", thread, state)
			}
		}
		if err := p.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Kill(); err != nil || p.Exit() != "signal: killed" {
		t.Errorf("the end is lost: %v, %s", err, p.Exit())
	}
}

// threads are the states of the threads of a process.
func threads(t *testing.T, pid int) map[string]string {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(files) == 0 {
		t.Fatalf("the threads of process %d: %v, %v", pid, files, err)
	}
	states := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, fields, _ := strings.Cut(string(content), ") ")
		states[file] = fields[:1]
	}
	return states
}

// awaitEnd waits until a process has ended; its killing is not yet its end.
func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	pidfd, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pidfd)
	const waitLimit = 10_000 // milliseconds
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, waitLimit); n == 0 || err != nil {
		t.Errorf("process %d, which the killed one had started, is alive (%v)", pid, err)
	}
}

func TestLogIsAppendedTo(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	for _, word := range []string{"one", "two"} {
		p, err := Start(Command{Program: "/bin/echo", Args: []string{word}, Log: log})
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
	}
	if content, err := os.ReadFile(log); err != nil || string(content) != "one\ntwo\n" {
		t.Errorf("log %q (%v)", content, err)
	}
}
