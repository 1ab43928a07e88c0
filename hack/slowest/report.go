package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// taken is how long a test took.
type taken struct {
	test    string
	seconds float64
}

// event is a line of "go test -json".
type event struct {
	Action, Package, Test, Output string
	Elapsed                       float64
}

// report prints what "go test" prints without -json: what a test says only if the test fails.
type report struct {
	out io.Writer
	// tests are what the tests have said that have not ended, by package and name.
	tests map[string]*strings.Builder
	took  []taken
}

func (r *report) print(text string) { _, _ = io.WriteString(r.out, text) } // to a terminal or a log

func (r *report) add(e event) {
	top, _, isSub := strings.Cut(e.Test, "/")
	key := e.Package + " " + top
	switch {
	case top == "" && isOutput(e) && e.Output != "PASS\n":
		r.print(e.Output)
	case top == "" && (e.Action == "pass" || e.Action == "fail"):
		r.end(e.Package)
	case top == "":
	case isOutput(e) && !strings.HasPrefix(e.Output, "=== "):
		if r.tests[key] == nil {
			r.tests[key] = &strings.Builder{}
		}
		r.tests[key].WriteString(e.Output)
	case !isSub && (e.Action == "pass" || e.Action == "fail"):
		r.took = append(r.took, taken{top, e.Elapsed})
		if e.Action == "fail" && r.tests[key] != nil {
			r.print(r.tests[key].String())
		}
		delete(r.tests, key)
	}
}

// end prints what tests have said in whose middle the program of their package has ended.
func (r *report) end(path string) {
	for _, key := range sortedKeys(r.tests) {
		if strings.HasPrefix(key, path+" ") {
			r.print(r.tests[key].String())
			delete(r.tests, key)
		}
	}
}

func sortedKeys(tests map[string]*strings.Builder) []string {
	var keys []string
	for key := range tests {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// isOutput reports whether an event has text: of a test, or of the compiler.
func isOutput(e event) bool { return e.Action == "output" || e.Action == "build-output" }

// table lists the tests that took longest.
func table(took []taken, most int) string {
	slices.SortFunc(took, func(a, b taken) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), strings.Compare(a.test, b.test))
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
