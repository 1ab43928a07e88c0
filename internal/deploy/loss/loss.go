// Package loss is about objects of an item that another client deletes while the item waits for
// them: when they are applied again, and what is reported about it.
package loss

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/limit"
)

const (
	// firstPause is between the first and the second time that an object is applied again. Each pause
	// is twice as long as the one before, up to longestPause: a client that deletes the object
	// whenever it exists must not keep the cluster busy.
	firstPause, longestPause = 2 * time.Second, time.Minute
)

// Losses are the objects that were missed in a job. The zero value cannot be used.
type Losses struct {
	wake  func()
	now   func() time.Time
	known map[id]*loss
	next  *limit.Limit
}

// id identifies an object, whatever the version of its API.
type id struct {
	kind            schema.GroupKind
	namespace, name string
}

// loss is what has become of one object.
type loss struct {
	// times is how often it was missed, gone says that it is missed now.
	times int
	gone  bool
	// who may delete it.
	who string
	// due is when it is applied again, applied when that was done last.
	due, applied time.Time
	// pause is how long the object is left alone at least, counted from applied.
	pause time.Duration
}

// New returns losses that call wake when an object may be applied again.
func New(wake func()) *Losses {
	return &Losses{wake: wake, now: time.Now, known: map[id]*loss{}}
}

func idOf(object *unstructured.Unstructured) id {
	return id{object.GroupVersionKind().GroupKind(), object.GetNamespace(), object.GetName()}
}

// Due notes that an object, as it was, does not exist any more, and reports whether it is to be applied
// again now. If not, wake is called when it is.
func (l *Losses) Due(object *unstructured.Unstructured) bool {
	now := l.now()
	lost := l.known[idOf(object)]
	if lost == nil {
		lost = &loss{who: Deleter(object)}
		l.known[idOf(object)] = lost
	}
	if !lost.gone {
		lost.gone, lost.times, lost.due = true, lost.times+1, lost.applied.Add(lost.pause)
	}
	if now.Before(lost.due) {
		l.wakeAt(now)
		return false
	}
	lost.gone, lost.applied = false, now
	lost.pause = min(max(2*lost.pause, firstPause), longestPause)
	return true
}

// wakeAt ensures that wake is called when the next object is due.
func (l *Losses) wakeAt(now time.Time) {
	var next time.Time
	for _, lost := range l.known {
		if lost.gone && lost.due.After(now) && (next.IsZero() || lost.due.Before(next)) {
			next = lost.due
		}
	}
	l.next.End()
	l.next = limit.New(next.Sub(now), l.wake)
}

// About says what has become of an object, and who may delete it; nothing if it was never
// missed. Of the object, only the name counts.
func (l *Losses) About(object *unstructured.Unstructured) string {
	lost := l.known[idOf(object)]
	if lost == nil {
		return ""
	}
	said := "it was deleted " + times(lost.times) + " (" + lost.who + ")"
	if lost.gone {
		return said + " and is applied again at " + clock(lost.due)
	}
	return said + " and applied again at " + clock(lost.applied)
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

func clock(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// Close ends what would call wake.
func (l *Losses) Close() {
	if l != nil {
		l.next.End()
	}
}
