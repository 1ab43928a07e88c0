package inclusion

const (
	// maxWork is how many pairs of schemas are compared: alternatives multiply.
	maxWork = 20_000
	// maxComparisons is how many comparisons the checks of values take, some seconds at most.
	maxComparisons = 4_000_000
)

// budget is what one comparison of schemas has taken.
type budget struct{ work, comparisons int }

// pair counts a pair of schemas, and reports whether it may be compared.
func (b *budget) pair() bool {
	b.work++
	return !b.exceeded()
}

// exceeded says that what is left is not looked at.
func (b *budget) exceeded() bool { return b.work > maxWork || b.comparisons > maxComparisons }
