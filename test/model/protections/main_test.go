package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFirstWrong: what the model says about a wrong history is found in its output, with the test that
// repeats it.
func TestFirstWrong(t *testing.T) {
	const before, after = "=== RUN   TestX\n    model_test.go:183: 1000 histories, the last one is 1999\n", "    the end of the trace:\n"
	for output, want := range map[string]string{
		before: "",
		before + "    model_test.go:189: seed 7: item a | b is lost\n        repeat it with: go test ./test/model -run 'TestHistories$' -seed 7\n" + after:       "seed 7: item a | b is lost",
		before + "    model_test.go:189: seed 7: item a | b is lost\n        repeat it with: go test ./test/model -run 'TestHistoriesGoBack$' -seed 7\n" + after: "seed 7 of TestHistoriesGoBack: item a | b is lost",
		before + "panic: no history\n": "",
	} {
		got := ""
		if err := firstWrong(strings.NewReader(output)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("of %q it says %q instead of %q", output, got, want)
		}
	}
}

// TestTable: each protection is where the table says, so that none is taken out in name only.
func TestTable(t *testing.T) {
	named := map[string]bool{}
	for _, p := range protections {
		source, err := os.ReadFile(filepath.Join("../../..", p.file))
		if err != nil {
			t.Fatal(err)
		}
		if without, err := p.without(string(source)); err != nil || without == string(source) {
			t.Errorf("%s: %v", p.name, err)
		}
		if named[p.name] {
			t.Errorf("%s stands there twice", p.name)
		}
		named[p.name] = true
	}
}
