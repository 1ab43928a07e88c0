package lifecycle

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/state"
)

func TestWait(t *testing.T) {
	since, ahead := noon.Add(-9*time.Minute), noon.AddDate(1, 0, 0)
	for _, test := range []struct {
		name        string
		remembered  state.State
		now         time.Time
		left        time.Duration
		wantedSince time.Time
		reason      string
	}{
		{"first", state.State{}, noon, 10 * time.Minute, noon, "it has just begun to wait"},
		{"goes on", state.State{WaitingSince: &since, ConfigChecksum: "a"}, noon, time.Minute, since, "a restart must not give it more time"},
		{"over", state.State{WaitingSince: &since, ConfigChecksum: "a"}, noon.Add(time.Minute), 0, since, "people have to hear of it"},
		{"long over", state.State{WaitingSince: &since, ConfigChecksum: "a"}, noon.Add(time.Hour), -59 * time.Minute, since, "they hear of it until it is over"},
		{"since a time in the future: the clock of a seed was wrong", state.State{WaitingSince: &ahead, ConfigChecksum: "a"}, noon, 10 * time.Minute, noon, "otherwise the wait would not end"},
		{"a new configuration restarts the wait", state.State{WaitingSince: &since, ConfigChecksum: "b"}, noon, 10 * time.Minute, noon, "it may help"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, left := wait(&test.remembered, "a", test.now)
			if !got.Equal(test.wantedSince) || left != test.left || test.remembered.ConfigChecksum != "a" || !test.remembered.WaitingSince.Equal(got) {
				t.Errorf("since %s, left %s, remembered %+v: %s", got, left, test.remembered, test.reason)
			}
		})
	}
}

func TestExpired(t *testing.T) {
	plain := (&pause{why: "waiting for Flux to run"}).expired(noon)
	if text := plain.Error(); !strings.Contains(text, "waiting for Flux to run") || !strings.Contains(text, "Nothing is removed") || codes(plain) != nil {
		t.Errorf("%s, codes %v", text, codes(plain))
	}
	coded := (&pause{why: "x", code: gardener.RetryableConfigurationProblem}).expired(noon)
	if got := codes(coded); !slices.Equal(got, []gardener.ErrorCode{gardener.RetryableConfigurationProblem}) {
		t.Errorf("codes %v", got)
	}
}

func TestSlowShootsAreAskedRarely(t *testing.T) {
	for _, row := range []struct {
		reason            string
		again, took, want time.Duration
	}{
		{"a shoot that answers at once", 5 * time.Second, 30 * time.Millisecond, 5 * time.Second},
		{"a shoot that answers at the timeout", 5 * time.Second, 10 * time.Second, 100 * time.Second},
		{"a shoot that is read rarely anyway", time.Hour, 10 * time.Second, time.Hour},
	} {
		t.Run(row.reason, func(t *testing.T) {
			if got := notBefore(row.again, row.took); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}
