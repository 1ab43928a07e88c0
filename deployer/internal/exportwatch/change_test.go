package exportwatch

import (
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

var noon = time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)

// TestSettle: values that change together are propagated together, and values that never settle are
// propagated nevertheless.
func TestSettle(t *testing.T) {
	tests := []struct {
		reason string
		since  time.Time
		want   time.Time
	}{
		{"the first change waits for more", time.Time{}, noon.Add(SettleTime)},
		{"a further change prolongs the wait", noon.Add(-time.Second), noon.Add(SettleTime)},
		{"further changes do not prolong the wait beyond the maximum", noon.Add(-MaxSettleTime + time.Millisecond), noon.Add(time.Millisecond)},
		{"changes that have waited for the maximum wait no longer", noon.Add(-MaxSettleTime), noon},
		{"nor do those that were held up by something else", noon.Add(-time.Hour), noon.Add(-time.Hour + MaxSettleTime)},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := Changed{Names: []string{"a"}, Since: test.since}
			c.Settle("job-1", noon)
			if !c.Settles.Equal(test.want) || !c.Stored || c.After != "job-1" || c.Since.IsZero() {
				t.Errorf("settles %s, want %s: %+v", c.Settles, test.want, c)
			}
		})
	}
	t.Run("a propagated change is done, but counts for the backoff", func(t *testing.T) {
		c := Changed{Names: []string{"a"}, Now: []byte("{}"), Stored: true, After: "job-1", Since: noon, Settles: noon}
		past := ChangeBackoff{}.After(noon)
		c.Done(past)
		if len(c.Names) > 0 || c.Now != nil || c.Stored || c.After != "" || !c.Since.IsZero() || c.Backoff != past {
			t.Errorf("left: %+v", c)
		}
	})
}

// TestPassedOn: only a job that has begun after the values were stored, and that has done with the
// Installation, has propagated them.
func TestPassedOn(t *testing.T) {
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
		{"another item has requested the job", func(_, _ *v1alpha1.Installation) {}, true},
		{"the root still has the earlier job", func(_, root *v1alpha1.Installation) { root.Status.JobID = "job-1" }, false},
		{"a job of the root for other Installations", func(_, root *v1alpha1.Installation) { root.Status.DataUpdate.Installations = []string{"other"} }, false},
		{"a job of the whole tree does not say whether it has read the values", func(_, root *v1alpha1.Installation) { root.Status.DataUpdate = nil }, false},
		{"the job is not there yet", func(own, _ *v1alpha1.Installation) { own.Status.JobID = "job-1" }, false},
		{"the job is not over", func(own, _ *v1alpha1.Installation) { own.Status.JobIDFinished = "job-1" }, false},
		{"the job has failed here", func(own, _ *v1alpha1.Installation) { own.Status.InstallationPhase = v1alpha1.InstallationPhases.Failed }, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := Propagated(family(test.change), "job-1"); got != test.want {
				t.Errorf("propagated: %t", got)
			}
		})
	}
	t.Run("an Installation that is its own root", func(t *testing.T) {
		alone := family(func(own, _ *v1alpha1.Installation) {
			own.Status.DataUpdate = &v1alpha1.DataUpdate{Installations: []string{"own"}}
		})[:1]
		if !Propagated(alone, "job-1") || Propagated(alone, "job-2") {
			t.Error("it is not seen")
		}
	})
}

// TestLeft: whatever was stored, a change waits for the pause at the most.
func TestLeft(t *testing.T) {
	tests := []struct {
		reason string
		state  ChangeBackoff
		want   time.Duration
	}{
		{"nothing was propagated yet", ChangeBackoff{}, 0},
		{"the last change was propagated just now", ChangeBackoff{last: noon}, PropagationInterval},
		{"the last change was propagated four seconds ago", ChangeBackoff{last: noon.Add(-4 * time.Second)}, 6 * time.Second},
		{"the last change was propagated long ago", ChangeBackoff{last: noon.Add(-time.Hour)}, 0},
		{"the third change in a row was propagated just now", ChangeBackoff{last: noon, streak: 2}, 40 * time.Second},
		{"a wrong clock has recorded a time in the future", ChangeBackoff{last: noon.AddDate(100, 0, 0)}, PropagationInterval},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := test.state.Left(noon); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// FuzzChangeHistory: what another client has written into the annotation holds no value back for
// longer than the longest pause, and is stored in a form that can be read again.
func FuzzChangeHistory(f *testing.F) {
	for _, seed := range []string{"", "2031-05-04T12:00:00Z/3", "9999-12-31T23:59:59Z/9223372036854775807", "0001-01-01T00:00:00Z/-1", "2031-05-04T12:00:00+14:00/1/2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		state := ParseChangeBackoff(text)
		if left := state.Left(noon); left < 0 || left > maxBackoff {
			t.Errorf("%q holds a value back for %s", text, left)
		}
		next := state.After(noon)
		if again := ParseChangeBackoff(next.String()); !again.last.Equal(next.last) || again.streak != next.streak {
			t.Errorf("%s comes back as %s", next, again)
		}
	})
}
