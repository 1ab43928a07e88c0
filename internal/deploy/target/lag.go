package target

import "time"

// lagLimit is how long a watch may be behind before the cluster is asked. Watches are mostly
// behind by milliseconds.
const lagLimit = 5 * time.Second

// Lag is how long a watch has been behind what is known of an object from an answer.
//
// It may stay behind for ever: when the store of the cluster was restored from a backup, the
// version that was known does not exist any more. So the cluster is asked, and its answer
// counts, however old it is.
type Lag struct{ since time.Time }

// Due notes whether a watch is behind, and reports whether the cluster is to be asked now. Wake
// is called when it may be.
func (l *Lag) Due(behind bool, wake func()) bool {
	now := time.Now()
	switch {
	case !behind:
		l.since = time.Time{}
		return false
	case l.since.IsZero():
		l.since = now
		time.AfterFunc(lagLimit, wake)
		return false
	case now.Sub(l.since) < lagLimit:
		return false
	}
	// What is asked about next has as much time.
	l.since = time.Time{}
	return true
}
