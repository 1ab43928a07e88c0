// Slowest runs tests as "go test" does, and lists those that took longest at the end:
// slowest ARGUMENTS, where the arguments are those of "go test".
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

func main() {
	ok, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "slowest:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// most is how many tests are listed.
const most = 20

// run runs the tests, and reports whether they succeed.
func run(arguments []string, out io.Writer) (ok bool, err error) {
	command := exec.Command("go", append([]string{"test", "-json"}, arguments...)...)
	command.Stderr = os.Stderr
	events, err := command.StdoutPipe()
	if err != nil {
		return false, fmt.Errorf("read what go test says: %w", err)
	}
	if err := command.Start(); err != nil {
		return false, fmt.Errorf("run go test: %w", err)
	}
	r := report{out: out, tests: map[string]*strings.Builder{}}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		e := event{}
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &e) != nil:
			r.print(string(line))
		default:
			r.add(e)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return false, errors.Join(fmt.Errorf("read what go test says: %w", err), command.Wait())
		}
	}
	err = command.Wait()
	r.print(table(r.took, most))
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return false, fmt.Errorf("run go test: %w", err)
	}
	return err == nil, nil
}
