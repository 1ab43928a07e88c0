package server

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"

	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/kustomize/build"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/plan/remote"
	"go.landscaper.dev/internal/runtime/sandbox"
)

const (
	// renderTimeout is how long one work may compute.
	renderTimeout = 30 * time.Second
	// Bounds of the memory of one work.
	leastRenderMemory, mostRenderMemory = 128 << 20, 512 << 20
)

// Render is the hidden command of the program: it carries out foreign work for the server at the
// other end of the pipe.
func Render(in io.Reader, out io.Writer, memory uint64) error {
	handlers := map[string]sandbox.Handler{}
	for _, more := range []map[string]sandbox.Handler{remote.Handlers(), render.Handlers(), build.Handlers()} {
		maps.Copy(handlers, more)
	}
	return sandbox.Serve(in, out, handlers, memory)
}

// renderers starts the processes for foreign work. Without a command, all work is done in this
// process.
func (c *Config) renderers(log logr.Logger) (*sandbox.Pool, error) {
	if len(c.Renderer) == 0 {
		return nil, nil
	}
	options := renderOptions(availableMemory("/"), runtime.NumCPU())
	options.Command = c.Renderer
	pool, how, err := sandbox.New(options)
	if err != nil {
		return nil, err // says what cannot be started
	}
	log.Info("foreign work runs in processes of its own", "confinedBy", how, "slots", options.Slots, "memory", fmt.Sprintf("%d MiB", options.Memory>>20))
	return pool, nil
}

// renderOptions divides the memory: half of it is for the server itself, and the rest for two works
// or more.
func renderOptions(available uint64, processors int) sandbox.Options {
	memory := min(max(available/4, leastRenderMemory), mostRenderMemory)
	slots := max(2, min(int(available/2/memory), processors)) //nolint:gosec // a few hundred
	return sandbox.Options{Slots: slots, Memory: memory, Timeout: renderTimeout, Spare: 1}
}

// plans makes the plans of Installations.
func (l *library) plans() plan.Maker {
	if l.renderers == nil {
		return plan.Here{}
	}
	return remote.Maker{Pool: l.renderers}
}

// charts renders charts, and kustomizations builds kustomizations.
func (l *library) charts() render.Renderer {
	if l.renderers == nil {
		return render.Here{}
	}
	return render.Process{Pool: l.renderers}
}

func (l *library) kustomizations() build.Builder {
	if l.renderers == nil {
		return build.Here{}
	}
	return build.Process{Pool: l.renderers}
}

// availableMemory returns the memory of the container, or that of the machine.
func availableMemory(root string) uint64 {
	available := uint64(1) << 62
	for _, file := range []string{"sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if text, err := os.ReadFile(filepath.Join(root, file)); err == nil {
			if limit, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
				available = min(available, limit)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return available
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "MemTotal:" {
			if total, err := strconv.ParseUint(fields[1], 10, 64); err == nil {
				available = min(available, total<<10)
			}
		}
	}
	return available
}
