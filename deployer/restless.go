package deployer

import (
	"encoding/json"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// maxNamed is how many values are named that have changed.
const maxNamed = 5

// news returns the names of the values that differ between two states of exports, never
// the values. Names with dots are maps here, like values that are maps: nobody can tell
// them apart, so that a name ends at its first dot.
func news(before, now []byte) []string {
	var old, new map[string]any
	// What cannot be read is as good as nothing: then everything is new.
	_ = json.Unmarshal(before, &old)
	_ = json.Unmarshal(now, &new)
	var names []string
	for name, value := range new {
		if before, there := old[name]; !there || !reflect.DeepEqual(before, value) {
			names = append(names, name)
		}
	}
	for name := range old {
		if _, there := new[name]; !there {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if len(names) > maxNamed {
		names = append(names[:maxNamed], "…")
	}
	return names
}

// maxRestPause is the longest pause between two changes that are handed on.
const maxRestPause = time.Hour

// restlessness is how often a value has changed again shortly after it was handed on: that
// is what a circle does that leads through programs of others.
type restlessness struct {
	last   time.Time
	streak int
}

// pause is the least time until the next change is handed on. It doubles with each.
func (r restlessness) pause() time.Duration {
	pause := handOnPause
	for range r.streak {
		if pause *= 2; pause >= maxRestPause {
			return maxRestPause
		}
	}
	return pause
}

// after is the state after another change was handed on. A quiet time begins anew.
func (r restlessness) after(now time.Time) restlessness {
	if r.last.IsZero() || now.Sub(r.last) > 2*r.pause() {
		return restlessness{last: now}
	}
	return restlessness{last: now, streak: r.streak + 1}
}

// restless returns how long the next change of an item has to wait.
func (r *runs) restless(uid types.UID, now time.Time) time.Duration {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	state, known := r.changes[uid]
	if !known || !now.Before(state.last.Add(state.pause())) {
		return 0
	}
	return state.last.Add(state.pause()).Sub(now)
}

// handedOn notes that a change was handed on, and returns the pause until the next one.
func (r *runs) handedOn(uid types.UID, now time.Time) time.Duration {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.changes == nil {
		r.changes = make(map[types.UID]restlessness)
	}
	state := r.changes[uid].after(now)
	for other, old := range r.changes {
		// What has been quiet for long is forgotten.
		if now.Sub(old.last) > 2*maxRestPause {
			delete(r.changes, other)
		}
	}
	r.changes[uid] = state
	return state.pause()
}
