// Figures measures the code base: sizes, repetitions, tests and comments, as a table.
// Generated files count nowhere. Tests are the files _test.go and all below test/.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	unit := flag.Bool("unit", false, "run the tests without a cluster, and tell how long they take")
	dead := flag.String("deadcode", "", "the program that finds functions which nothing calls; empty: do not look for them")
	flag.Parse()
	if err := run(*unit, *dead); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func run(unit bool, deadcode string) error {
	listed, err := exec.Command("git", "ls-files", "-co", "--exclude-standard", "*.go").Output()
	if err != nil {
		return fmt.Errorf("list the files: %w", err)
	}
	var files []file
	for name := range strings.FieldsSeq(string(listed)) {
		if otherModule(name) {
			continue
		}
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			// It is deleted, and git does not know yet.
			continue
		}
		if err != nil {
			return err // names the file
		}
		measured, err := measure(name, string(text))
		if err != nil {
			return err // names the file
		}
		if !measured.generated {
			files = append(files, measured)
		}
	}
	rows := table(files)
	if deadcode != "" {
		found, err := unused(deadcode)
		if err != nil {
			return err
		}
		rows = append(rows, row{"dead functions", fmt.Sprint(len(found)), strings.Join(found, " ")})
	}
	if unit {
		took, err := unitTime()
		if err != nil {
			return err
		}
		rows = append(rows, row{"unit tests, built before", took.Round(time.Second).String(), ""})
	}
	for _, row := range rows {
		fmt.Printf("| %s | %s | %s |\n", row.figure, row.value, row.where)
	}
	return nil
}

// otherModule reports whether a file belongs to a module in a folder.
func otherModule(name string) bool {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return true
		}
	}
	return false
}

// unused returns the functions that nothing calls, not even a test.
func unused(deadcode string) ([]string, error) {
	command := exec.Command(deadcode, "-test", "./...")
	command.Stderr = os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("look for functions that nothing calls: %w", err)
	}
	var found []string
	for lines := bufio.NewScanner(strings.NewReader(string(output))); lines.Scan(); {
		place, name, _ := strings.Cut(lines.Text(), " unreachable func: ")
		found = append(found, name+" ("+strings.TrimSuffix(place, ":")+")")
	}
	return found, nil
}

// unitTime builds the tests, and then measures how long they run.
func unitTime() (took time.Duration, err error) {
	for _, flags := range []string{"-run=^$$", "-count=1"} {
		command := exec.Command("make", "--no-print-directory", "test-unit", "TESTFLAGS="+flags)
		command.Stdout, command.Stderr = os.Stderr, os.Stderr
		began := time.Now()
		if err := command.Run(); err != nil {
			return 0, fmt.Errorf("run the tests without a cluster: %w", err)
		}
		took = time.Since(began)
	}
	return took, nil
}
