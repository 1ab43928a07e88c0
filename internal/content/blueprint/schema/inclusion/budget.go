package inclusion

const (
	// maxWork is how many pairs of schemas are compared: alternatives multiply.
	maxWork = 20_000
	// maxComparisons is how many comparisons the checks of values take, some seconds at most.
	maxComparisons = 4_000_000
	// maxTogether is how many times as much all schemas of a Comparer take.
	maxTogether = 4
)

// Comparer compares schemas that one author has written, and bounds what all of them take. The zero value is
// ready, for one goroutine.
type Comparer struct{ spent budget }

func (r *Comparer) exceeded() bool {
	return r.spent.work > maxTogether*maxWork || r.spent.comparisons > maxTogether*maxComparisons
}

func (r *Comparer) spend(b budget) {
	r.spent.work += b.work
	r.spent.comparisons += b.comparisons
}

// budget is what one comparison of schemas has taken.
type budget struct{ work, comparisons int }

// pair counts a pair of schemas, and reports whether it may be compared.
func (b *budget) pair() bool {
	b.work++
	return !b.exceeded()
}

// exceeded says that what is left is not looked at.
func (b *budget) exceeded() bool { return b.work > maxWork || b.comparisons > maxComparisons }
