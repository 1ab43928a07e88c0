package landscape

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// ConsoleOptions say how a console is started.
type ConsoleOptions struct {
	// Kubeconfig is that of the user whose rights the console has.
	Kubeconfig string
	// Args are further flags of "landscaper-cli console".
	Args []string
	// Env is the environment of the process, besides KUBECONFIG; nil is that of this process.
	Env []string
	// Errors takes what the process writes to its standard error; nil drops it.
	Errors io.Writer
}

// Console is a process of "landscaper-cli console". It cannot outlive the process that started it.
type Console struct {
	// Link opens the console once.
	Link string

	process *os.Process
	ended   <-chan error
}

// StartConsole starts a console, and returns when it can be opened.
func StartConsole(options ConsoleOptions) (*Console, error) {
	program, err := Program("landscaper-cli")
	if err != nil {
		return nil, err
	}
	command := exec.Command(program, append([]string{"console"}, options.Args...)...)
	if command.Env = options.Env; command.Env == nil {
		command.Env = os.Environ()
	}
	command.Env = append(command.Env, "KUBECONFIG="+options.Kubeconfig)
	command.Stderr = options.Errors
	// A group of its own: Ctrl-C in a terminal is for the owner of the console, who ends it.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the console: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the console: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	c := &Console{process: command.Process, ended: ended}
	_, link, found := strings.Cut(strings.TrimSpace(line), "http://")
	if err != nil || !found {
		return nil, errors.Join(fmt.Errorf("the console prints no link, but %q", line), c.Stop())
	}
	c.Link = "http://" + link
	return c, nil
}

// Stop ends the console as Ctrl-C does, and returns when it has ended.
func (c *Console) Stop() error {
	if err := c.process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("end the console: %w", err)
	}
	if err := <-c.ended; err != nil {
		return fmt.Errorf("the console ends with an error: %w", err)
	}
	return nil
}
