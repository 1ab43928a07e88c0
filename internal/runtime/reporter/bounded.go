package reporter

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"

	"go.landscaper.dev/internal/runtime/job"
)

const (
	// eventBurst is how many events an object may have at once, and eventInterval after
	// which time it may have another one: 120 events of one object in an hour.
	eventBurst    = 60
	eventInterval = time.Minute
)

// RateLimited returns a recorder that makes at most 120 events of one object in an hour: 60 at
// once, and one a minute afterwards. Of the events beyond, the last one is made when its time
// comes, and says how many were left out before: so the events always end with the last news.
//
// Every recorder of the project is made here, whatever it reports: a mistake of ours that
// changes an object again and again must not flood the API server.
func RateLimited(recorder events.EventRecorder) events.EventRecorder {
	return &rateLimited{recorder: recorder, objects: map[types.UID]*tokenBucket{}}
}

type rateLimited struct {
	recorder events.EventRecorder

	mutex   sync.Mutex
	objects map[types.UID]*tokenBucket
	// swept is when objects without recent events were last forgotten.
	swept time.Time
}

// tokenBucket is what an object may still have.
type tokenBucket struct {
	tokens int
	// since is when left was true.
	since time.Time
	// last is the event that waits for its time, nil for none, and omitted are those before.
	last    *pendingEvent
	omitted int
}

// pendingEvent is an event that waits for its time.
type pendingEvent struct {
	regarding, related              runtime.Object
	eventType, reason, action, note string
}

// Eventf implements events.EventRecorder.
func (b *rateLimited) Eventf(regarding, related runtime.Object, eventType, reason, action, note string, args ...any) {
	object, err := meta.Accessor(regarding)
	if err != nil || object.GetUID() == "" {
		b.recorder.Eventf(regarding, related, eventType, reason, action, note, args...)
		return
	}
	b.mutex.Lock()
	defer b.mutex.Unlock()
	now := time.Now()
	b.sweep(now)
	a := b.objects[object.GetUID()]
	if a == nil {
		a = &tokenBucket{tokens: eventBurst, since: now}
		b.objects[object.GetUID()] = a
	}
	news := &pendingEvent{regarding, related, eventType, reason, action, fmt.Sprintf(note, args...)}
	if a.last != nil {
		a.omitted++
	}
	if a.take(now) {
		a.last = nil
		b.send(a, news)
		return
	}
	// The caller may change the object while the event waits.
	news.regarding = regarding.DeepCopyObject()
	if related != nil {
		news.related = related.DeepCopyObject()
	}
	if a.last == nil {
		time.AfterFunc(a.since.Add(eventInterval).Sub(now), func() { b.due(a) })
	}
	a.last = news
}

// due makes the event that has waited for its time.
func (b *rateLimited) due(a *tokenBucket) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if a.last == nil || !a.take(time.Now()) {
		return
	}
	news := a.last
	a.last = nil
	b.send(a, news)
}

func (b *rateLimited) send(a *tokenBucket, news *pendingEvent) {
	note := news.note
	if a.omitted > 0 {
		note = job.EventMessage(fmt.Sprintf("(%d events before this one were left out) %s", a.omitted, note))
	}
	a.omitted = 0
	b.recorder.Eventf(news.regarding, news.related, news.eventType, news.reason, news.action, "%s", note)
}

// take reports whether the object may have an event now, and counts it.
func (a *tokenBucket) take(now time.Time) bool {
	a.refill(now)
	if a.tokens == 0 {
		return false
	}
	a.tokens--
	return true
}

func (a *tokenBucket) refill(now time.Time) {
	more := int(now.Sub(a.since) / eventInterval)
	if a.tokens += more; a.tokens >= eventBurst {
		a.tokens, a.since = eventBurst, now
		return
	}
	a.since = a.since.Add(time.Duration(more) * eventInterval)
}

// sweep forgets objects without recent events, now and then.
func (b *rateLimited) sweep(now time.Time) {
	if now.Sub(b.swept) < eventInterval {
		return
	}
	b.swept = now
	for uid, a := range b.objects {
		if a.refill(now); a.tokens == eventBurst && a.last == nil {
			delete(b.objects, uid)
		}
	}
}
