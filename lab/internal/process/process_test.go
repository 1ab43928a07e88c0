package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	const patience = 10_000 // milliseconds
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, patience); n == 0 || err != nil {
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
