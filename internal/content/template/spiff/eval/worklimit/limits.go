// Package worklimit bounds what one evaluation may cost: steps, nested calls, texts,
// lists, memory and time.
package worklimit

import (
	"time"
)

// Limits bound one evaluation. Zero values mean the defaults of DefaultLimits.
type Limits struct {
	Depth int   // nested calls
	Steps int64 // evaluated expressions and produced elements
	Bytes int64 // produced text, all together
	Text  int64 // length of one text
	List  int64 // length of one list
	Nodes int64 // nodes of one value
	// Memory is an estimate of everything that is made. Memory that is garbage later counts, too.
	Memory int64
	Time   time.Duration // wall time
}

// DefaultLimits are generous for real templates and stop a hostile one within
// a second or so.
func DefaultLimits() Limits {
	return Limits{
		Depth:  10_000,
		Steps:  4_000_000,
		Bytes:  64 << 20,
		Text:   16 << 20,
		List:   1_000_000,
		Nodes:  1_000_000,
		Memory: 256 << 20,
		Time:   30 * time.Second,
	}
}

// WithDefaults replaces what is not set.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	set := func(v *int64, otherwise int64) {
		if *v <= 0 {
			*v = otherwise
		}
	}
	if l.Depth <= 0 {
		l.Depth = d.Depth
	}
	if l.Time <= 0 {
		l.Time = d.Time
	}
	set(&l.Steps, d.Steps)
	set(&l.Bytes, d.Bytes)
	set(&l.Text, d.Text)
	set(&l.List, d.List)
	set(&l.Nodes, d.Nodes)
	set(&l.Memory, d.Memory)
	return l
}

// maxDepth bounds the levels of one value, so that walking over it is safe.
const maxDepth = 2_000
