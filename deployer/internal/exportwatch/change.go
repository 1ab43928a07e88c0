package exportwatch

import (
	"slices"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

const (
	// PropagationInterval is the least time between a job and the next one because of a value.
	PropagationInterval = 10 * time.Second
	// SettleTime is how long values have to be unchanged before they are propagated: the exports of
	// several items often change at once, and one job is enough for that.
	SettleTime = time.Second
	// MaxSettleTime is the time after which values that never settle are propagated.
	MaxSettleTime = 5 * time.Second
)

// Changed is what is known of the values since the last look.
type Changed struct {
	// Names are the names of values that differ from the propagated ones, Now all values as they
	// are to be stored.
	Names []string
	Now   []byte
	// Backoff says how often values have changed before.
	Backoff ChangeBackoff
	// Stored says that the values are stored with a note that they are to be propagated, After
	// which job the root had then.
	Stored bool
	After  string
	// Since is the time of the first change, Settles until when more are awaited.
	Since, Settles time.Time
}

// Settle records that the values are stored, and until when further changes are awaited.
func (c *Changed) Settle(after string, now time.Time) {
	c.Stored, c.After = true, after
	if c.Since.IsZero() {
		c.Since = now
	}
	c.Settles = now.Add(SettleTime)
	if longest := c.Since.Add(MaxSettleTime); c.Settles.After(longest) {
		c.Settles = longest
	}
}

// Done records that everything was propagated.
func (c *Changed) Done(past ChangeBackoff) { *c = Changed{Backoff: past} }

// Propagated reports whether a job that began after another one has collected the exports of the
// first of some Installations again, because another item of it has changed values.
func Propagated(above []*v1alpha1.Installation, after string) bool {
	own, root := &above[0].Status, &above[len(above)-1].Status
	return root.JobID != after && root.DataUpdate != nil && slices.Contains(root.DataUpdate.Installations, above[0].Name) &&
		job.BaseOf(own.JobID) == root.JobID && own.JobIDFinished == own.JobID && own.InstallationPhase == v1alpha1.InstallationPhases.Succeeded
}
