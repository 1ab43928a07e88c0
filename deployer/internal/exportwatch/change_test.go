package exportwatch

import (
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

var noon = time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)

// TestSettle: what changes together is handed on together, and what never settles is
// handed on all the same.
func TestSettle(t *testing.T) {
	tests := []struct {
		reason string
		since  time.Time
		want   time.Time
	}{
		{"the first news wait for more", time.Time{}, noon.Add(SettlePause)},
		{"further news wait on", noon.Add(-time.Second), noon.Add(SettlePause)},
		{"but not for longer than that, all together", noon.Add(-LongestSettle + time.Millisecond), noon.Add(time.Millisecond)},
		{"news that have waited long enough wait no more", noon.Add(-LongestSettle), noon},
		{"nor do those that were held up by something else", noon.Add(-time.Hour), noon.Add(-time.Hour + LongestSettle)},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := Changed{News: []string{"a"}, Since: test.since}
			c.Settle("job-1", noon)
			if !c.Settles.Equal(test.want) || !c.Stored || c.After != "job-1" || c.Since.IsZero() {
				t.Errorf("settles %s, want %s: %+v", c.Settles, test.want, c)
			}
		})
	}
	t.Run("what was handed on is over, but not forgotten", func(t *testing.T) {
		c := Changed{News: []string{"a"}, Now: []byte("{}"), Stored: true, After: "job-1", Since: noon, Settles: noon}
		past := Restlessness{}.After(noon)
		c.Done(past)
		if len(c.News) > 0 || c.Now != nil || c.Stored || c.After != "" || !c.Since.IsZero() || c.Past != past {
			t.Errorf("left: %+v", c)
		}
	})
}

// TestHandedOn: only a job that has begun after the values were stored, and that has done
// with the Installation, has handed them on.
func TestHandedOn(t *testing.T) {
	family := func(change func(own, root *v1alpha1.Installation)) []*v1alpha1.Installation {
		own, root := &v1alpha1.Installation{}, &v1alpha1.Installation{}
		own.Name, root.Name = "own", "root"
		own.Status.JobID, own.Status.JobIDFinished, own.Status.InstallationPhase = "job-2", "job-2", v1alpha1.InstallationPhases.Succeeded
		root.Status.JobID, root.Status.DataUpdate = "job-2", &v1alpha1.DataUpdate{Installations: []string{"other", "own"}}
		change(own, root)
		return []*v1alpha1.Installation{own, root}
	}
	tests := []struct {
		reason string
		change func(own, root *v1alpha1.Installation)
		want   bool
	}{
		{"another item has asked for it", func(_, _ *v1alpha1.Installation) {}, true},
		{"the root has the job of before still", func(_, root *v1alpha1.Installation) { root.Status.JobID = "job-1" }, false},
		{"its job was about other Installations", func(_, root *v1alpha1.Installation) { root.Status.DataUpdate.Installations = []string{"other"} }, false},
		{"its job was about everything: nobody says whether it saw the values", func(_, root *v1alpha1.Installation) { root.Status.DataUpdate = nil }, false},
		{"the job is not there yet", func(own, _ *v1alpha1.Installation) { own.Status.JobID = "job-1" }, false},
		{"the job is not over", func(own, _ *v1alpha1.Installation) { own.Status.JobIDFinished = "job-1" }, false},
		{"the job has failed here", func(own, _ *v1alpha1.Installation) { own.Status.InstallationPhase = v1alpha1.InstallationPhases.Failed }, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := HandedOn(family(test.change), "job-1"); got != test.want {
				t.Errorf("handed on: %t", got)
			}
		})
	}
	t.Run("an Installation that is its own root", func(t *testing.T) {
		alone := family(func(own, _ *v1alpha1.Installation) {
			own.Status.DataUpdate = &v1alpha1.DataUpdate{Installations: []string{"own"}}
		})[:1]
		if !HandedOn(alone, "job-1") || HandedOn(alone, "job-2") {
			t.Error("it is not seen")
		}
	})
}

// TestLeft: whatever was stored, a change waits for the pause at the most.
func TestLeft(t *testing.T) {
	tests := []struct {
		reason string
		state  Restlessness
		want   time.Duration
	}{
		{"nothing was handed on yet", Restlessness{}, 0},
		{"it was this moment", Restlessness{last: noon}, HandOnPause},
		{"it was some time ago", Restlessness{last: noon.Add(-4 * time.Second)}, 6 * time.Second},
		{"it was long ago", Restlessness{last: noon.Add(-time.Hour)}, 0},
		{"it was for the third time", Restlessness{last: noon, streak: 2}, 40 * time.Second},
		{"a clock that was wrong has noted a time to come", Restlessness{last: noon.AddDate(100, 0, 0)}, HandOnPause},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := test.state.Left(noon); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// FuzzRestlessness: what somebody has written into the annotation holds no value back for
// longer than the longest pause, and is stored in a form that can be read again.
func FuzzRestlessness(f *testing.F) {
	for _, seed := range []string{"", "2031-05-04T12:00:00Z/3", "9999-12-31T23:59:59Z/9223372036854775807", "0001-01-01T00:00:00Z/-1", "2031-05-04T12:00:00+14:00/1/2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		state := ParseRestlessness(text)
		if left := state.Left(noon); left < 0 || left > maxRestPause {
			t.Errorf("%q holds a value back for %s", text, left)
		}
		next := state.After(noon)
		if again := ParseRestlessness(next.String()); !again.last.Equal(next.last) || again.streak != next.streak {
			t.Errorf("%s comes back as %s", next, again)
		}
	})
}
