// Package process runs child processes that cannot outlive their parent.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Command says what to run.
type Command struct {
	Program string
	Args    []string
	Env     []string
	Dir     string
	// Log receives what the program writes; it is appended to.
	Log string
	// User is whom the program runs as, if it has a view of the file system of its own: then
	// it may change what is mounted, and nothing else. Outside, it is the user of this process.
	User *User
}

// User is a user in a user namespace.
type User struct{ UID, GID int }

// Process is a started command.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// starter starts children from one thread that lives as long as the process:
// the kernel's parent-death signal is tied to the thread that forked, not to
// the process, and Go ends threads as it likes.
var starter = struct {
	once     sync.Once
	requests chan func()
}{requests: make(chan func())}

// Start runs the command in a process group of its own. The kernel kills it
// when this process ends, even by SIGKILL.
func Start(command Command) (*Process, error) {
	log, err := os.OpenFile(command.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", command.Program, err)
	}
	defer log.Close()
	cmd := exec.Command(command.Program, command.Args...)
	cmd.Env = command.Env
	cmd.Dir = command.Dir
	cmd.Stdout = log
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if user := command.User; user != nil {
		cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: user.UID, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: user.GID, HostID: os.Getegid(), Size: 1}}
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SYS_CHROOT}
	}
	if err := onStarterThread(cmd.Start); err != nil {
		if command.User != nil && errors.Is(err, unix.EPERM) {
			return nil, fmt.Errorf("start %s in a user namespace, which this machine must allow (sysctl kernel.apparmor_restrict_unprivileged_userns=0 where there is AppArmor): %w", command.Program, err)
		}
		return nil, fmt.Errorf("start %s: %w", command.Program, err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

func onStarterThread(start func() error) error {
	starter.once.Do(func() {
		go func() {
			runtime.LockOSThread()
			for request := range starter.requests {
				request()
			}
		}()
	})
	result := make(chan error, 1)
	starter.requests <- func() { result <- start() }
	return <-result
}

// PID is the process's id, which is also the id of its group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit says how the process ended; it may be called once Done is closed.
func (p *Process) Exit() string { return p.cmd.ProcessState.String() }

// ExitCode is the code that the process ended with, and -1 after a signal; it may be called once Done
// is closed.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Signal sends a signal to the process and to all that it started. After SIGSTOP it
// returns when the process stands still: until then its threads work on what they have
// begun.
func (p *Process) Signal(signal syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := syscall.Kill(-p.PID(), signal); err != nil && err != syscall.ESRCH {
		return fmt.Errorf("send %s to process group %d: %w", signal, p.PID(), err)
	}
	if signal == syscall.SIGSTOP {
		return p.awaitStop()
	}
	return nil
}

// awaitStop returns when all threads of the process have stopped, or when it has ended. WNOWAIT
// leaves the status of the process to the goroutine that waits for its end.
func (p *Process) awaitStop() error {
	for {
		err := unix.Waitid(unix.P_PID, p.PID(), nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == nil, errors.Is(err, unix.ECHILD):
			return nil
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("wait until process %d has stopped: %w", p.PID(), err)
		}
	}
}

// Kill ends the process and all that it started, and waits for it.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.done
	return nil
}
