package itemorder

// Verdict is what the states of all items together mean.
type Verdict string

// The verdicts.
const (
	// GoOn means that items can be triggered.
	GoOn Verdict = "go on"
	// Wait means that items are at work.
	Wait Verdict = "wait"
	// AllDone means that every item is done.
	AllDone Verdict = "all done"
	// SomeFailed means that items have failed and nothing is at work any more.
	SomeFailed Verdict = "some failed"
	// Stuck means that items wait for each other.
	Stuck Verdict = "stuck"
)

// Verdict looks at all states.
func (o Order) Verdict() Verdict {
	count := map[State]int{}
	for _, state := range o.States {
		count[state]++
	}
	return o.verdict(count)
}

// deploying is the verdict about a job that deploys. After a failure nothing new is triggered, but
// items at work may end.
func deploying(count map[State]int) Verdict {
	switch {
	case count[Failed] > 0 && count[Running] > 0:
		return Wait
	case count[Failed] > 0:
		return SomeFailed
	case count[Runnable] > 0:
		return GoOn
	case count[Running] > 0:
		return Wait
	case count[Pending] > 0:
		return Stuck
	}
	return AllDone
}

// deleting is the verdict about a deletion. An item that cannot be deleted holds back only those
// that it depends on.
func deleting(count map[State]int) Verdict {
	switch {
	case count[Runnable] > 0:
		return GoOn
	case count[Running] > 0:
		return Wait
	case count[Failed] > 0:
		return SomeFailed
	case count[Pending] > 0:
		return Stuck
	}
	return AllDone
}
