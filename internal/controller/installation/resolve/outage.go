package resolve

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
)

// OutageLimit is how long a job retries a registry that does not answer. The API server is retried
// without end.
const OutageLimit = 5 * time.Minute

// Outages remembers since when Installations get no answer. The beginning of the job is too early:
// the job may have waited for something else before. A restart forgets the outages, which only
// makes the limit longer.
type Outages struct {
	mu    sync.Mutex
	began map[types.UID]time.Time
}

// Classify classifies an error while the children are rendered. Most errors are terminal; but the API
// server, or a registry that does not answer, may answer soon.
func (o *Outages) Classify(uid types.UID, now time.Time, err *job.Error) error {
	var unread *repocontext.ReadError
	if errors.As(err, &unread) {
		return err
	}
	if !component.IsTemporary(err) {
		return job.AsTerminal(err)
	}
	given := *err
	if since := o.since(uid, now); now.Sub(since) < OutageLimit {
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
func (o *Outages) since(uid types.UID, now time.Time) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.began == nil {
		o.began = map[types.UID]time.Time{}
	}
	since, known := o.began[uid]
	if !known {
		o.began[uid], since = now, now
	}
	return since
}

// Forget forgets an outage.
func (o *Outages) Forget(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.began, uid)
}
