package worklimit

import "time"

// Limits bound one rendering.
type Limits struct {
	// Duration is the time after which it ends.
	Duration time.Duration
	// Steps are calls of functions, rounds of loops and prints.
	Steps int
	// Output is the length of what it prints.
	Output int
	// Text is the length of one text, Produced the memory of everything that functions make. Memory
	// that is garbage later counts, too: it cannot be told apart.
	Text, Produced int64
	// List is the length of one list that a function makes.
	List int64
}

// DefaultLimits are generous for real blueprints: all that one execution prints
// ends up in objects of at most 1.5 MiB.
func DefaultLimits() Limits {
	return Limits{
		Duration: 30 * time.Second, Steps: 10_000_000,
		Output: 4 << 20, Text: 16 << 20, Produced: 256 << 20, List: 1_000_000,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	if l.Duration <= 0 {
		l.Duration = d.Duration
	}
	if l.Steps <= 0 {
		l.Steps = d.Steps
	}
	if l.Output <= 0 {
		l.Output = d.Output
	}
	if l.Text <= 0 {
		l.Text = d.Text
	}
	if l.Produced <= 0 {
		l.Produced = d.Produced
	}
	if l.List <= 0 {
		l.List = d.List
	}
	return l
}
