package job_test

import (
	"testing"

	"go.landscaper.dev/internal/job"
)

func TestRemovalRound(t *testing.T) {
	tests := []struct {
		reason, id, removal, base string
		is                        bool
	}{
		{"a job has a removal round", "j", "j-removal", "j", false},
		{"a removal round has no further one", "j-removal", "j-removal", "j", true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := job.RemovalOf(test.id); got != test.removal {
				t.Errorf("the removal round is %q, want %q", got, test.removal)
			}
			if got := job.BaseOf(test.id); got != test.base {
				t.Errorf("the job is %q, want %q", got, test.base)
			}
			if got := job.IsRemoval(test.id); got != test.is {
				t.Errorf("is a removal round: %t, want %t", got, test.is)
			}
		})
	}
}
