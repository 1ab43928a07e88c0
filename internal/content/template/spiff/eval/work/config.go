package work

import (
	"context"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/eval/worklimit"
	"go.landscaper.dev/internal/content/template/spiff/value"
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

// Config is the immutable configuration of evaluations.
type Config struct {
	Settings  call.Settings
	Features  map[Feature]bool
	Functions map[string]HostFunction
	Limits    worklimit.Limits
	// Resolve follows symbolic links of a document name; nil keeps names.
	Resolve func(name string) string
	Version string
}
