// Lanes runs packages of tests that wait for much, several at the same time: lanes -n 3 PACKAGE...
// A package that takes longer than all others is run in parts, as in ./test/e2e*2. Each part is a
// process with a lab of its own. At the end stand the tests that took longest.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	ok, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lanes:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// options are those of all parts.
type options struct {
	timeout time.Duration
	// folder is for the programs of the tests.
	folder string
}

func run(arguments []string, out io.Writer) (ok bool, err error) {
	flags := flag.NewFlagSet("lanes", flag.ContinueOnError)
	lanes := flags.Int("n", 3, "how many parts run at the same time")
	slowest := flags.Int("slowest", 20, "how many of the slowest tests are listed")
	o := options{}
	flags.DurationVar(&o.timeout, "timeout", time.Hour, "how long one part may take")
	if err := flags.Parse(arguments); err != nil {
		return false, err
	}
	parts, err := partsOf(flags.Args())
	if err != nil {
		return false, err
	}
	if o.folder, err = os.MkdirTemp("", "lanes-"); err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(o.folder) }()
	var mutex sync.Mutex
	var group sync.WaitGroup
	var took []taken
	ok = true
	next := make(chan *part)
	for range *lanes {
		group.Go(func() {
			for p := range next {
				r := o.do(p)
				mutex.Lock()
				_, _ = io.WriteString(out, r.text)
				took, ok = append(took, r.took...), ok && r.ok
				mutex.Unlock()
			}
		})
	}
	for _, p := range parts {
		next <- p
	}
	close(next)
	group.Wait()
	_, err = io.WriteString(out, table(took, *slowest))
	return ok, err
}

// part is a part of the tests of a package.
type part struct {
	// path and dir are those of the package, base names the folder for its program.
	path, dir string
	// nth of so many parts, from 1.
	nth, of int
	// build makes the program of all parts.
	build func(folder string) (program string, output []byte, err error)
}

// partsOf returns the parts of packages, each of which may be a pattern.
func partsOf(arguments []string) ([]*part, error) {
	var parts []*part
	for _, argument := range arguments {
		pattern, count, divided := strings.Cut(argument, "*")
		of := 1
		if divided {
			var err error
			if of, err = strconv.Atoi(count); err != nil || of < 1 {
				return nil, fmt.Errorf("%s: behind the star stands how many parts there are", argument)
			}
		}
		listed, err := exec.Command("go", "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}", pattern).Output()
		if err != nil {
			return nil, fmt.Errorf("list the packages of %s: %w%s", pattern, err, saidBy(err))
		}
		for line := range strings.Lines(string(listed)) {
			path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
			build := builder(path)
			for nth := 1; nth <= of; nth++ {
				parts = append(parts, &part{path: path, dir: dir, nth: nth, of: of, build: build})
			}
		}
	}
	return parts, nil
}

// saidBy is what a program has said that has failed.
func saidBy(err error) string {
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return ": " + strings.TrimSpace(string(failed.Stderr))
	}
	return ""
}

// builder returns what builds the program with the tests of a package, once for all of its parts.
func builder(path string) func(folder string) (program string, output []byte, err error) {
	var once sync.Once
	var program string
	var output []byte
	var err error
	return func(folder string) (string, []byte, error) {
		once.Do(func() {
			program = filepath.Join(folder, strings.ReplaceAll(path, "/", "-")+".test")
			output, err = exec.Command("go", "test", "-vet=off", "-c", "-o", program, path).CombinedOutput()
		})
		return program, output, err
	}
}

// do runs a part.
func (o options) do(p *part) report {
	program, output, err := p.build(o.folder)
	if err != nil {
		return report{text: fmt.Sprintf("%sFAIL\t%s [build failed]\n", output, p.path)}
	}
	arguments := []string{"tool", "test2json", "-t", program, "-test.v=test2json", "-test.paniconexit0", "-test.count=1", "-test.timeout=" + o.timeout.String()}
	if p.of > 1 {
		names, err := namesIn(p.dir)
		if err != nil {
			return report{text: fmt.Sprintf("%v\nFAIL\t%s\n", err, p.path)}
		}
		arguments = append(arguments, "-test.run="+pattern(names, p.nth, p.of))
	}
	began := time.Now()
	command := exec.Command("go", arguments...)
	command.Dir = p.dir
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	err = command.Run()
	return reportOf(p, said.Bytes(), err, time.Since(began))
}
