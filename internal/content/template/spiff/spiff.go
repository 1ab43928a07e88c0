// Package spiff evaluates templates written in spiff, a language of YAML
// documents with embedded expressions, and merges them with further documents
// (stubs).
//
// An Engine is an immutable configuration. It processes documents that were
// parsed before, and neither changes. Engines, documents and prepared stubs
// can be used by any number of goroutines at the same time.
//
//	engine, err := spiff.New(spiff.Config{Access: spiff.AccessNone})
//	docs, err := spiff.Parse([]byte("greeting: (( \"hello \" name ))"), "template.yaml")
//	result, err := engine.Process(ctx, docs, spiff.Input{Bindings: map[string]any{"name": "you"}})
//	text, err := result.YAML()
package spiff

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"sort"
	"time"

	"go.landscaper.dev/internal/content/template/spiff/builtin"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/eval/work"
	"go.landscaper.dev/internal/content/template/spiff/eval/worklimit"
	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
)

// Version is the language version that templates see as __ctx.VERSION.
const Version = "1.7.0"

// Access is how much of the outside world a template may touch.
type Access = call.Access

// The access levels.
const (
	AccessNone  = call.None
	AccessFiles = call.Files
	AccessFull  = call.Full
)

// Names of the optional features of the language.
const (
	FeatureControl       = string(work.Control)
	FeatureInterpolation = string(work.Interpolation)
)

// Limits end an evaluation that does not end by itself; zero values mean the defaults. They do not
// bound its memory: a template that is not trusted belongs in a process of its own.
type Limits = worklimit.Limits

// System is the outside world beyond the file system, for AccessFull.
type System = call.System

// Function is a function of the embedder. It gets and returns plain Go data:
// nil, bool, int64, float64, string, []any and map[string]any. Its errors and
// panics are ordinary failures of the calling expression.
type Function func(ctx context.Context, args []any) (any, error)

// Config configures an Engine. The zero value evaluates pure templates.
type Config struct {
	Access Access
	// Files is what the reading functions see, from AccessFiles on. The root of
	// the file system is the root for templates, there is no way out of it.
	Files fs.FS
	// System is needed for AccessFull.
	System System
	// Features are the optional parts of the language that are switched on.
	Features []string
	// Functions are added to the builtin ones, which they cannot replace.
	Functions map[string]Function
	Limits    Limits
	// Sensitive keeps all values out of messages; types stand in their place.
	Sensitive bool
	// Key is the default key of encrypt and decrypt.
	Key string
	// Tags are predefined global tags.
	Tags map[string]any
	// Random and Now replace the sources of randomness and time in tests.
	Random io.Reader
	Now    func() time.Time
	// Resolve follows symbolic links of document names for the context.
	Resolve func(name string) string
}

// Engine evaluates templates.
type Engine struct {
	config work.Config
	tags   map[string]value.Value
}

// New checks a configuration.
func New(c Config) (*Engine, error) {
	e := &Engine{tags: map[string]value.Value{}}
	features, names, err := featureSet(c.Features)
	if err != nil {
		return nil, err
	}
	if c.Access >= AccessFull && c.System == nil {
		return nil, fmt.Errorf("spiff: full access needs a System")
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tags)) {
		content := c.Tags[name]
		v, err := yamlio.FromGo(content, true)
		if err != nil {
			return nil, fmt.Errorf("spiff: tag %s: %w", name, err)
		}
		e.tags[name] = v
	}
	e.config = work.Config{
		Settings: call.Settings{
			Access: c.Access, Files: c.Files, System: c.System, Features: names,
			Random: c.Random, Now: c.Now, Key: c.Key, Sensitive: c.Sensitive,
		},
		Features: features, Limits: c.Limits, Version: Version, Resolve: c.Resolve,
		Functions: map[string]work.HostFunction{},
	}
	for _, name := range slices.Sorted(maps.Keys(c.Functions)) {
		f := c.Functions[name]
		if builtin.Lookup(name) != nil {
			return nil, fmt.Errorf("spiff: function %s is builtin and cannot be replaced", name)
		}
		e.config.Functions[name] = hostFunction(f)
	}
	return e, nil
}

func featureSet(list []string) (map[work.Feature]bool, []string, error) {
	features := map[work.Feature]bool{}
	for _, name := range list {
		switch name {
		case FeatureControl, FeatureInterpolation:
			features[work.Feature(name)] = true
		case "no" + FeatureControl, "no" + FeatureInterpolation:
			delete(features, work.Feature(name[len("no"):]))
		default:
			return nil, nil, fmt.Errorf("spiff: unknown feature %q, known are %s and %s",
				name, FeatureControl, FeatureInterpolation)
		}
	}
	var names []string
	for f := range features {
		names = append(names, string(f))
	}
	sort.Strings(names)
	return features, names, nil
}

// hostFunction converts arguments and results of a function of the embedder.
func hostFunction(f Function) work.HostFunction {
	return func(ctx context.Context, args []value.Value) (value.Value, error) {
		plain := make([]any, len(args))
		for i, a := range args {
			plain[i] = yamlio.ToGo(a)
		}
		result, err := f(ctx, plain)
		if err != nil {
			return nil, err
		}
		return yamlio.FromGo(result, true)
	}
}
