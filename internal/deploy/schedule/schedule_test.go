package schedule

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/deployer"
)

func compile(t *testing.T, text string) (Schedule, error) {
	t.Helper()
	var spec *deployer.ContinuousReconcileSpec
	if err := yaml.Unmarshal([]byte(text), &spec); err != nil {
		t.Fatal(err)
	}
	return Compile(spec)
}

func TestNext(t *testing.T) {
	after := time.Date(2026, 3, 2, 10, 17, 30, 0, time.UTC)
	tests := []struct {
		reason, spec string
		want         time.Time
	}{
		{"an interval", "{every: 90s}", after.Add(90 * time.Second)},
		{"whole seconds", "{every: 1500ms}", after.Add(time.Second)},
		{"at least a second", "{every: 5ms}", after.Add(time.Second)},
		{"five fields", "{cron: '30 4 * * 1'}", time.Date(2026, 3, 9, 4, 30, 0, 0, time.UTC)},
		{"a word", "{cron: '@daily', drift: report}", time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)},
		{"a time zone", "{cron: 'CRON_TZ=Etc/GMT-2 0 14 * * *'}", time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)},
		{"a day that never comes", "{cron: '0 0 31 2 *'}", time.Time{}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			schedule, err := compile(t, test.spec)
			if err != nil {
				t.Fatal(err)
			}
			// The local time of the machine makes no difference.
			for _, at := range []time.Time{after, after.In(time.FixedZone("elsewhere", 5*3600))} {
				if got := schedule(at); !got.Equal(test.want) {
					t.Errorf("%s, want %s", got, test.want)
				}
			}
		})
	}
	for _, spec := range []string{"null", "{}", "{every: none}", "{every: 0s}"} {
		if schedule, err := compile(t, spec); schedule != nil || err != nil {
			t.Errorf("%s is a schedule, error %v", spec, err)
		}
	}
}

func TestWrong(t *testing.T) {
	const word = "top-secret-word"
	tests := []struct{ reason, spec, want string }{
		{"a schedule and an interval", "{every: 1m, cron: '@daily'}", "has both cron and every"},
		{"no schedule", "{cron: " + word + "}", "continuousReconcile.cron is not a schedule"},
		{"six fields", "{cron: '0 30 4 * * 1'}", "is not a schedule"},
		{"nothing but a time zone", "{cron: TZ=" + word + "}", "is not a schedule"},
		{"a time zone that leads out of the data", "{cron: 'TZ=../../etc/passwd 0 0 * * *'}", "is not a schedule"},
		{"no duration", "{every: soon}", "continuousReconcile.every: it is not a duration"},
		{"a negative interval", "{every: -1m}", "continuousReconcile.every"},
		{"an unknown drift policy", "{every: 1m, drift: " + word + "}", "continuousReconcile.drift does not exist"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, err := compile(t, test.spec)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), word) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
