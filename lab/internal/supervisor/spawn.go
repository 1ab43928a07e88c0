package supervisor

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"go.landscaper.dev/lab/internal/instance"
)

// The files that a supervisor inherits from the command that spawns it.
const (
	lockFD     = 3 // the lab's lock; held for the supervisor's whole life
	handoverFD = 4 // closed without a word if the spawning command dies
	outcomeFD  = 5 // where the supervisor reports the outcome of the start
	ownerFD    = 6 // a pidfd of the lab's owner, if it has one
)

// handedOver is what the spawning command says when it has seen the outcome and
// the lab may live without it.
const handedOver = "outcome seen\n"

type outcome struct {
	Error string `json:"error,omitempty"`
}

// OpenOwner returns a descriptor of the process that is to own a lab. It stays
// that process's even if the id is given to another.
func OpenOwner(pid int) (*os.File, error) {
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, fmt.Errorf("watch the owner, process %d: %w", pid, err)
	}
	return os.NewFile(uintptr(pidfd), "owner"), nil
}

// Spawn starts a supervisor that outlives this process and returns when the lab is up. With an
// owner (see OpenOwner, or nil), the lab is stopped when the owner ends; if this process ends
// before Spawn returns, it is stopped as well.
func Spawn(ctx context.Context, lab instance.Instance, lock, owner *os.File) error {
	handoverRead, handoverWrite, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe to the supervisor: %w", err)
	}
	outcomeRead, outcomeWrite, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make a pipe from the supervisor: %w", err)
	}
	files := []*os.File{lock, handoverRead, outcomeWrite}
	if owner != nil {
		files = append(files, owner)
	}
	cmd, err := command(lab, files, owner != nil)
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the supervisor of lab %s: %w", lab.Name, err)
	}
	go func() { _ = cmd.Wait() }()
	for _, file := range files {
		_ = file.Close()
	}
	// A caller that interrupts us does not want the lab: the closed pipe tells the supervisor.
	defer context.AfterFunc(ctx, func() { _ = outcomeRead.Close() })()
	var result outcome
	if err := json.NewDecoder(outcomeRead).Decode(&result); err != nil {
		return fmt.Errorf("the supervisor of lab %s ended while it started: %w", lab.Name, err)
	}
	if result.Error != "" {
		return errors.New(result.Error)
	}
	if _, err := io.WriteString(handoverWrite, handedOver); err != nil {
		return fmt.Errorf("hand lab %s over to its supervisor: %w", lab.Name, err)
	}
	return nil
}

func command(lab instance.Instance, files []*os.File, owned bool) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	log, err := os.OpenFile(lab.Log("supervisor"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the supervisor's log: %w", err)
	}
	cmd := exec.Command(program, "supervise", "--dir", lab.Root, "--name", lab.Name, fmt.Sprintf("--owned=%t", owned))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = files
	cmd.Dir = "/" // keep no directory of the caller in use
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, nil
}

// Supervise is the spawned process; owned says that it inherited an owner.
func Supervise(lab instance.Instance, owned bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	handover, result := inherited(owned)
	defer result.Close()
	go func() {
		if said, err := bufio.NewReader(handover).ReadString('\n'); err != nil || said != handedOver {
			log.Info("the command that brings the lab up has ended early")
			stop()
		}
	}()
	if owned {
		go func() {
			waitForEnd(ownerFD)
			log.Info("the lab's owner has ended")
			stop()
		}()
	}
	s, err := New(lab, log)
	if err != nil {
		tell(result, err)
		return err
	}
	return s.Run(ctx, func(err error) { tell(result, err) })
}

func tell(result io.WriteCloser, err error) {
	said := outcome{}
	if err != nil {
		said.Error = err.Error()
	}
	_ = json.NewEncoder(result).Encode(said) // the reader has ended if this fails
	_ = result.Close()
}

// inherited takes over the inherited files and keeps them from our own children:
// a child must not hold the lab's lock. The lock's file is never closed.
func inherited(owned bool) (handover, result *os.File) {
	for _, fd := range []int{lockFD, handoverFD, outcomeFD} {
		syscall.CloseOnExec(fd)
	}
	if owned {
		syscall.CloseOnExec(ownerFD)
	}
	return os.NewFile(handoverFD, "handover"), os.NewFile(outcomeFD, "outcome")
}

// waitForEnd returns when the process of a pidfd has ended. It takes the bare
// descriptor, since an os.File closes itself once the garbage collector finds
// that only the kernel still needs it.
func waitForEnd(pidfd int32) {
	poll := []unix.PollFd{{Fd: pidfd, Events: unix.POLLIN}}
	for {
		if n, err := unix.Poll(poll, -1); n > 0 || (err != nil && err != unix.EINTR) {
			return
		}
	}
}
