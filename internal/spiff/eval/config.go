package eval

import (
	"context"
	"time"

	"go.landscaper.dev/internal/spiff/builtin/call"
	"go.landscaper.dev/internal/spiff/value"
)

// Feature names an optional part of the language.
type Feature string

// The optional features.
const (
	Control       Feature = "control"
	Interpolation Feature = "interpolation"
)

// HostFunction is a function of the embedder. Arguments are evaluated values.
type HostFunction func(ctx context.Context, args []value.Value) (value.Value, error)

// Limits bound one evaluation. Zero values mean the defaults of DefaultLimits.
type Limits struct {
	Depth int   // nested calls
	Steps int64 // evaluated expressions and produced elements
	Bytes int64 // produced text, all together
	Text  int64 // length of one text
	List  int64 // length of one list
	Nodes int64 // nodes of one value
	// Memory is an estimate of everything that is made. What is garbage later counts,
	// too.
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

func (l Limits) withDefaults() Limits {
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

// Config is the immutable configuration of evaluations.
type Config struct {
	Settings  call.Settings
	Features  map[Feature]bool
	Functions map[string]HostFunction
	Limits    Limits
	// Memory takes memory that evaluations share; an error ends this one. nil: there
	// is no bound but its own.
	Memory func(ctx context.Context, bytes int64) error
	// Resolve follows symbolic links of a document name; nil keeps names.
	Resolve func(name string) string
	Version string
}
