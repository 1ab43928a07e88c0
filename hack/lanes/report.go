package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// taken is how long a test took.
type taken struct {
	test    string
	seconds float64
}

// report is what a part has come to.
type report struct {
	ok   bool
	text string
	took []taken
}

// event is a line of "go tool test2json".
type event struct {
	Action, Test, Output string
	Elapsed              float64
}

// reportOf makes the report of a part from what its program has said, as "go test" prints it: what a
// test says is printed if the test fails.
func reportOf(p *part, said []byte, err error, took time.Duration) report {
	r := report{ok: err == nil}
	var others strings.Builder
	tests := map[string]*strings.Builder{}
	for line := range bytes.Lines(said) {
		e := event{}
		switch {
		case json.Unmarshal(line, &e) != nil:
			others.Write(line)
		case e.Test != "":
			r.add(e, tests)
		case e.Action == "output" && !isResult(e.Output):
			others.WriteString(e.Output)
		}
	}
	name := p.path
	if p.of > 1 {
		name += fmt.Sprintf(" (%d of %d)", p.nth, p.of)
	}
	if r.ok {
		r.text = fmt.Sprintf("ok  \t%s\t%.3fs\n", name, took.Seconds())
		return r
	}
	var text strings.Builder
	for _, top := range sortedKeys(tests) {
		// In the middle of a test without an end, the program has ended.
		text.WriteString(tests[top].String())
	}
	fmt.Fprintf(&text, "%s%v\nFAIL\t%s\t%.3fs\n", others.String(), err, name, took.Seconds())
	r.text = text.String()
	return r
}

// add takes an event of a test. The output of a test that has passed is dropped.
func (r *report) add(e event, outputs map[string]*strings.Builder) {
	top, _, isSub := strings.Cut(e.Test, "/")
	switch {
	case e.Action == "output" && !isProgress(e.Output):
		if outputs[top] == nil {
			outputs[top] = &strings.Builder{}
		}
		outputs[top].WriteString(e.Output)
	case isSub:
	case e.Action == "pass" || e.Action == "fail":
		if r.took = append(r.took, taken{top, e.Elapsed}); e.Action == "pass" {
			delete(outputs, top)
		}
	}
}

func sortedKeys(outputs map[string]*strings.Builder) []string {
	var keys []string
	for key := range outputs {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// isProgress reports whether a line only says that a test begins, waits or goes on.
func isProgress(line string) bool {
	return strings.HasPrefix(line, "=== ")
}

// isResult reports whether a line says how all tests of a program have ended.
func isResult(line string) bool {
	return line == "PASS\n" || line == "FAIL\n"
}

// table lists the tests that took longest.
func table(took []taken, most int) string {
	slices.SortFunc(took, func(a, b taken) int {
		if a.seconds != b.seconds {
			return int(b.seconds*1000) - int(a.seconds*1000)
		}
		return strings.Compare(a.test, b.test)
	})
	var text strings.Builder
	text.WriteString("The slowest tests:\n")
	columns := tabwriter.NewWriter(&text, 0, 0, 1, ' ', tabwriter.AlignRight)
	for _, one := range took[:min(most, len(took))] {
		fmt.Fprintf(columns, "\t%.1f s\t  %s\n", one.seconds, one.test)
	}
	_ = columns.Flush() // into memory
	return text.String()
}

// namesIn returns the names of the tests in a folder, in the order of their files.
func namesIn(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, fmt.Errorf("look for tests in %s: %w", dir, err)
	}
	var names []string
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read the tests: %w", err)
		}
		for _, declared := range parsed.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if ok && function.Recv == nil && isTest(function.Name.Name) {
				names = append(names, function.Name.Name)
			}
		}
	}
	return names, nil
}

func isTest(name string) bool {
	return name != "TestMain" && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Fuzz"))
}

// pattern matches the tests of the nth of so many parts. Neighbours come into different parts: they
// take about the same time.
func pattern(names []string, nth, of int) string {
	var own []string
	for i, name := range names {
		if i%of == nth-1 {
			own = append(own, name)
		}
	}
	return "^(" + strings.Join(own, "|") + ")$"
}
