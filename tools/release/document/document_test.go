package document

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestCompletions: each shell has a script for the command line.
func TestCompletions(t *testing.T) {
	files, err := Completions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(shells)+1 {
		t.Errorf("%d files", len(files))
	}
	for _, file := range files[1:] {
		if !bytes.Contains(file.Data, []byte("landscaper-cli")) {
			t.Errorf("%s is not for landscaper-cli", file.Name)
		}
	}
}

// TestManual: there is a page for each command, with the version and the date of the release, and
// the same bytes each time.
func TestManual(t *testing.T) {
	at := time.Unix(1_700_000_000, 0)
	first, err := Manual("v1.2.3", at)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Manual("v1.2.3", at)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for i := range first {
		if pages[first[i].Name] = string(first[i].Data); !bytes.Equal(first[i].Data, second[i].Data) {
			t.Errorf("%s: the bytes differ", first[i].Name)
		}
	}
	page := pages["man/landscaper-cli-installations-plan.1"]
	if !strings.Contains(page, `"Nov 2023" "landscaper-cli v1.2.3"`) {
		t.Errorf("there are %d pages, and that of a plan is:\n%s", len(pages), page)
	}
}

// TestRunReports: an error says which command has failed, and why.
func TestRunReports(t *testing.T) {
	if _, err := Run(t.Context(), "completion", "tcsh"); err == nil || !strings.Contains(err.Error(), "landscaper-cli completion tcsh: exit code 1: Error: invalid argument") {
		t.Errorf("%v", err)
	}
}
