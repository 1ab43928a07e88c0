package history

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestDifferences: a job that runs has not ended in anything yet.
func TestDifferences(t *testing.T) {
	tests := []struct {
		reason         string
		earlier, later *Outcome
		want           string
	}{
		{"the same", &Outcome{JobRecord: v1alpha1.JobRecord{Phase: "Failed", Reason: "Apply"}}, &Outcome{JobRecord: v1alpha1.JobRecord{Phase: "Failed", Reason: "Apply"}}, ""},
		{"another reason", &Outcome{JobRecord: v1alpha1.JobRecord{Phase: "Failed", Reason: "Apply"}}, &Outcome{JobRecord: v1alpha1.JobRecord{Phase: "Failed", Reason: "Timeout"}}, "reason"},
		{"one that runs", &Outcome{JobRecord: v1alpha1.JobRecord{Phase: "Failed", Reason: "Apply"}}, &Outcome{}, "phase"},
		{"what each worked on", &Outcome{JobRecord: v1alpha1.JobRecord{Generation: 1, Component: "a:1", ImportsHash: "x"}}, &Outcome{JobRecord: v1alpha1.JobRecord{Generation: 2, Component: "a:2", ImportsHash: "y"}}, "generation,component,imports"},
		{"a part that was not there", nil, &Outcome{}, "phase"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := strings.Join(differences(test.earlier, test.later), ","); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}
