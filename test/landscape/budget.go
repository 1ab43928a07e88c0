package landscape

import "strings"

// Budget bounds what our users request on both clusters, without watches and leases.
type Budget struct{ Writes, Events, Reads int }

// The costs of the most frequent cases, when the target cluster is known. docs/performance.md
// explains each write; none of them depends on chance. Reads may be added where a cache is behind,
// and two jobs may share an event.
var (
	// Smallest is one Installation with one item with one object.
	Smallest = Budget{Writes: 12, Events: 2, Reads: 3}
	// Again is another job of it without a change.
	Again = Budget{8, 1, 3}
	// Deletion is its deletion.
	Deletion = Budget{8, 1, 2}
	// Item is each further item with its object.
	Item = Budget{4, 0, 0}
)

// Plus is the budget for two things together.
func (b Budget) Plus(other Budget) Budget {
	return Budget{b.Writes + other.Writes, b.Events + other.Events, b.Reads + other.Reads}
}

// Times is the budget for a thing that happens several times.
func (b Budget) Times(count int) Budget {
	return Budget{b.Writes * count, b.Events * count, b.Reads * count}
}

// Keeps says whether nothing that was spent is more than the budget has.
func (b Budget) Keeps(spent Budget) bool {
	return spent.Writes <= b.Writes && spent.Events <= b.Events && spent.Reads <= b.Reads
}

// Spent sums up requests.
func Spent(requests []Request) Budget {
	spent := Budget{}
	for _, request := range requests {
		switch {
		case strings.HasPrefix(request.Resource, "events"):
			spent.Events++
		case request.Verb == "get" || request.Verb == "list":
			spent.Reads++
		default:
			spent.Writes++
		}
	}
	return spent
}

// The sizes of the smallest case.
const (
	// SmallestBytes is what one watch of all our kinds gets, in bytes: each write sends
	// its whole object to it.
	SmallestBytes = 33_400
	// SmallestStatus is what all status of it have in bytes when it has come to rest, of which
	// what the record of a job has for comparisons is about 150, and SmallestManaged its managed fields, of which the record of the cluster that an item is
	// on has about 70.
	SmallestStatus  = 3_550
	SmallestManaged = 4_800
)
