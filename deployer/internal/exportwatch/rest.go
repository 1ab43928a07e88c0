package exportwatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxNamed is how many changed values are named.
const maxNamed = 5

// ChangedNames returns the names of the values that differ between two states of exports, never the
// values. Names with dots are maps here, like values that are maps: the two cannot be
// distinguished, so a name ends at its first dot.
func ChangedNames(before, now []byte) []string {
	// Exports that cannot be read count as empty: then everything is new.
	old, new := valuesOf(before), valuesOf(now)
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
	return Named(names)
}

// valuesOf reads exports. Numbers stay as they are written: as floats, two large ones
// that differ would look the same.
func valuesOf(content []byte) (values map[string]any) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.UseNumber()
	if decoder.Decode(&values) != nil {
		return nil
	}
	return values
}

// Named returns names for a note: each once, and not too many.
func Named(names []string) []string {
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxNamed {
		names = append(names[:maxNamed:maxNamed], "…")
	}
	return names
}

// maxBackoff is the longest pause between two propagated changes.
const maxBackoff = time.Hour

// maxStreak is more than it takes to reach it.
const maxStreak = 64

// ChangeBackoff is how often a value has changed again shortly after it was propagated: a cycle
// through other programs does that.
type ChangeBackoff struct {
	last   time.Time
	streak int
}

// Pause is the least time until the next change is propagated. It doubles with each.
func (r ChangeBackoff) Pause() time.Duration {
	pause := PropagationInterval
	for range r.streak {
		if pause *= 2; pause >= maxBackoff {
			return maxBackoff
		}
	}
	return pause
}

// After is the state after another change was propagated. After a quiet time, the count starts
// again.
func (r ChangeBackoff) After(now time.Time) ChangeBackoff {
	if r.last.IsZero() || now.Sub(r.last) > 2*r.Pause() {
		return ChangeBackoff{last: now}
	}
	return ChangeBackoff{last: now, streak: min(r.streak+1, maxStreak)}
}

// Left returns how long the next change has to wait.
func (r ChangeBackoff) Left(now time.Time) time.Duration {
	if r.last.IsZero() {
		return 0
	}
	// A clock that was wrong may have recorded a time in the future.
	return min(max(0, r.last.Add(r.Pause()).Sub(now)), r.Pause())
}

// String is the stored form: when a change was propagated last, and how many have followed each
// other before.
func (r ChangeBackoff) String() string {
	return fmt.Sprintf("%s/%d", r.last.UTC().Format(time.RFC3339), r.streak)
}

// ParseChangeBackoff reads what was stored. A text that cannot be read counts as a quiet time.
func ParseChangeBackoff(text string) ChangeBackoff {
	at, streak, _ := strings.Cut(text, "/")
	last, err := time.Parse(time.RFC3339, at)
	count, countErr := strconv.Atoi(streak)
	if err != nil || countErr != nil {
		return ChangeBackoff{}
	}
	return ChangeBackoff{last: last, streak: min(max(0, count), maxStreak)}
}
