package job

import (
	"fmt"
	"strings"
	"time"
)

// Wake is what triggers the next reconcile of an object. It is part of every decision, so
// that every object that is not final has a recorded trigger.
type Wake struct {
	// settled says that the job has ended: nothing is left to wake for.
	settled bool
	// continues says that the step itself leads to the next one.
	continues bool
	// deleted says that the object does not exist any more.
	deleted  bool
	events   []Event
	deadline time.Time
}

// Event is a change of an object that a job waits for.
type Event struct {
	// Kind is a kind that the controller watches.
	Kind string
	// Name is the name of the object, in the namespace of the one that waits.
	Name string
}

// Continues is the wake of a step that does something: what it has done is looked at
// right after, and an error of it is reported.
func Continues() Wake { return Wake{continues: true} }

// Settled is the wake of an object whose job has ended, or that never had one. Only
// a new request makes it work again.
func Settled() Wake { return Wake{settled: true} }

// Deleted is the wake of an object that does not exist any more: all that is remembered of it is
// dropped.
func Deleted() Wake { return Wake{settled: true, deleted: true} }

// OnChange is the wake by a change of any of some objects of a kind.
func OnChange(kind string, names ...string) Wake {
	wake := Wake{}
	for _, name := range names {
		wake.events = append(wake.events, Event{Kind: kind, Name: name})
	}
	return wake
}

// By adds a moment at which the work goes on at the latest; the zero time adds none.
func (w Wake) By(deadline time.Time) Wake {
	if !deadline.IsZero() && (w.deadline.IsZero() || deadline.Before(w.deadline)) {
		w.deadline = deadline
	}
	return w
}

// And adds what another wake waits for.
//
// Whether the step goes on or the job has ended is said by the first one; the other only
// adds events and a deadline.
func (w Wake) And(other Wake) Wake {
	w.events = append(w.events[:len(w.events):len(w.events)], other.events...)
	return w.By(other.deadline)
}

// IsSettled reports whether the job has ended.
func (w Wake) IsSettled() bool { return w.settled }

// IsDeleted reports whether the object does not exist any more.
func (w Wake) IsDeleted() bool { return w.deleted }

// ContinuesAtOnce reports whether the step itself leads to the next one.
func (w Wake) ContinuesAtOnce() bool { return w.continues }

// Events returns the changes that are waited for.
func (w Wake) Events() []Event { return w.events }

// Deadline returns the moment at which the work goes on at the latest, or zero.
func (w Wake) Deadline() time.Time { return w.deadline }

// Recorded reports whether it is known what lets the work go on. It is false only
// for a wake that says nothing, which no decision may have.
func (w Wake) Recorded() bool {
	return w.settled || w.continues || len(w.events) > 0 || !w.deadline.IsZero()
}

// Pause returns the time until the deadline, and 0 without one: then only an event
// triggers a reconcile.
func (w Wake) Pause(now time.Time) time.Duration {
	if w.deadline.IsZero() {
		return 0
	}
	// 0 would mean that nothing is enqueued.
	return max(w.deadline.Sub(now), time.Millisecond)
}

// String describes in words what is waited for.
func (w Wake) String() string {
	var parts []string
	for _, event := range w.events {
		parts = append(parts, event.Kind+" "+event.Name)
	}
	if !w.deadline.IsZero() {
		parts = append(parts, fmt.Sprintf("the time %s", w.deadline.UTC().Format(time.RFC3339)))
	}
	switch {
	case w.deleted:
		return "nothing, the object is deleted"
	case w.settled:
		return "nothing, the job has ended"
	case w.continues:
		return "the step itself"
	case len(parts) == 0:
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
