package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestHistory: a run is compared with the one before; neither chance nor a new figure is a
// difference.
func TestHistory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history.jsonl")
	for _, requests := range []float64{14, 12} {
		report := &Report{}
		report.counted("writes", requests, "")
		report.measured("time", 7, "ms")
		if err := remember(file, report); err != nil {
			t.Fatal(err)
		}
	}
	last, err := lastEntry(file)
	if err != nil || last.Counts["writes"] != 12 || len(last.Counts) != 1 || last.Times["time"] != 7 {
		t.Fatalf("%+v, %v", last, err)
	}
	now := Entry{Counts: map[string]float64{"a": 12.1, "b": 14, "c": 7, "new": 1}}
	before := &Entry{Commit: "x", Counts: map[string]float64{"a": 12, "b": 12, "c": 9}}
	if got := strings.Join(now.changes(before), "; "); got != "b: 14.00, was 12.00 at x; c: 7.00, was 9.00 at x" {
		t.Error(got)
	}
	if got := now.changes(nil); got != nil {
		t.Errorf("without a run before: %v", got)
	}
}
