package rewatch

import (
	"testing"
	"time"
)

func TestUnsettled(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	recent := &Recent{Now: func() time.Time { return now }}
	expect := func(situation string, want bool) {
		t.Helper()
		if got := recent.Unsettled(); got != want {
			t.Errorf("%s: unsettled %t, want %t", situation, got, want)
		}
	}
	expect("nothing was rewound", false)
	recent.Note()
	expect("the history was rewound now", true)
	now = now.Add(settleTime - time.Second)
	expect("the caches may still list", true)
	recent.Note()
	now = now.Add(settleTime - time.Second)
	expect("it was rewound again meanwhile", true)
	now = now.Add(time.Second)
	expect("all caches have listed anew", false)
}
