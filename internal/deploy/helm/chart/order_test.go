package chart

import (
	"strings"
	"testing"
)

// TestMissingFieldsInOrder: of several missing fields the first one is named in each attempt.
func TestMissingFieldsInOrder(t *testing.T) {
	l := &Loader{}
	for range 50 {
		_, err := l.repository(t.Context(), item("team-a", ""), inRepository("", "", ""))
		if err == nil || !strings.Contains(err.Error(), "chart.helmChartRepo.helmChartRepoUrl") {
			t.Fatalf("got %v", err)
		}
	}
}
