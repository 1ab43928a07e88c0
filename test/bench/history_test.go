package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestHistory: a run is compared with the one before, and chance is no difference.
func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	for _, requests := range []int{14, 12} {
		if err := remember(file, &Report{Requests: map[string]int{"resource create targets": requests}}); err != nil {
			t.Fatal(err)
		}
	}
	last, err := lastEntry(file)
	if err != nil || last.Counts["smallest case: resource create targets"] != 12 {
		t.Fatalf("%+v, %v", last, err)
	}
	now := Entry{Counts: map[string]float64{"a": 12.1, "b": 14, "c": 7, "new": 1}}
	before := &Entry{Commit: "x", Counts: map[string]float64{"a": 12, "b": 12, "c": 9}}
	if got := strings.Join(now.changes(before), "; "); got != "b: 14.00, was 12.00 at x; c: 7.00, was 9.00 at x; new: 1.00, was 0.00 at x" {
		t.Error(got)
	}
	if got := now.changes(nil); got != nil {
		t.Errorf("without a run before: %v", got)
	}
}
