package server

import (
	"context"
	"fmt"
	"runtime"

	"github.com/go-logr/logr"

	"go.landscaper.dev/internal/deploy/renderers"
	"go.landscaper.dev/internal/runtime/memguard"
	"go.landscaper.dev/internal/runtime/sandbox"
)

const (
	// leastRenderMemory is the least that one work may take.
	leastRenderMemory = 128 << 20
	// idleMemory is the memory of the container for each process that waits; it has 10 MiB of its
	// own, and shares the rest with the others.
	idleMemory          = 128 << 20
	leastIdle, mostIdle = 4, 32
)

// renderers starts the processes for foreign work. Without a command, all work is done in this
// process.
func (c *Config) renderers(log logr.Logger) (*sandbox.Pool, error) {
	if len(c.Renderer) == 0 {
		return nil, nil
	}
	options := renderOptions(uint64(memguard.Share(c.MemoryLimit)), runtime.NumCPU()) //nolint:gosec // never negative
	options.Command = c.Renderer
	pool, how, err := sandbox.New(options)
	if err != nil {
		return nil, err // says what cannot be started
	}
	log.Info("foreign work runs in processes of its own", "confinedBy", how, "slots", options.Slots, "memory", fmt.Sprintf("%d MiB", options.Memory>>20))
	return pool, nil
}

// foreign returns what carries out foreign work, until the context ends.
func (c *Config) foreign(ctx context.Context, log logr.Logger) (renderers.Renderers, error) {
	if c.Embedded != nil {
		return c.Embedded.Renderers, nil
	}
	processes, err := c.renderers(log)
	if processes != nil {
		context.AfterFunc(ctx, processes.Close)
	}
	return renderers.Renderers{Pool: processes}, err
}

// renderOptions divides the memory: half of it is for the server itself, and the rest for two works
// or more.
func renderOptions(available uint64, processors int) sandbox.Options {
	memory := min(max(available/4, leastRenderMemory), renderers.Memory)
	slots := max(2, min(int(available/2/memory), processors)) //nolint:gosec // a few hundred
	idle := int(min(max(available/idleMemory, leastIdle), mostIdle))
	return sandbox.Options{Slots: slots, Memory: memory, Timeout: renderers.Timeout, Spare: 1, Idle: idle}
}
