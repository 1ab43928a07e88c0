package resolve

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
)

// OutageLimit is how long a job retries a registry that does not answer. The API server is retried
// without end.
const OutageLimit = 5 * time.Minute

// Outage is since when an Installation gets no answer. The beginning of the job is too early: the job
// may have waited for something else before. A restart forgets it, which only makes the limit longer.
type Outage struct {
	mu    sync.Mutex
	began time.Time
}

// Classify classifies an error while the children are rendered. Most errors are terminal; but the API
// server, or a registry that does not answer, may answer soon.
func (o *Outage) Classify(now time.Time, err *job.Error) error {
	var unread *repocontext.ReadError
	if errors.As(err, &unread) {
		return err
	}
	if !component.IsTemporary(err) {
		return job.AsTerminal(err)
	}
	given := *err
	if since := o.since(now); now.Sub(since) < OutageLimit {
		// Both times stay the same during the outage, so that the message costs no write.
		given.Message = strings.TrimSpace(fmt.Sprintf("%s (no answer since %s, asked again until %s)", err.Message, clock(since), clock(since.Add(OutageLimit))))
		return &given
	}
	given.Message = strings.TrimSuffix(fmt.Sprintf("given up after %s: %s", OutageLimit, err.Message), ": ")
	return job.AsTerminal(&given)
}

// clock is a time in messages.
func clock(at time.Time) string { return at.UTC().Format("15:04:05 MST") }

// since notes an outage, and returns when it began.
func (o *Outage) since(now time.Time) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.began.IsZero() {
		o.began = now
	}
	return o.began
}

// Over notes that the outage is over.
func (o *Outage) Over() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.began = time.Time{}
}
