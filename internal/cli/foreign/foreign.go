// Package foreign carries out what others have written, blueprints, charts and kustomizations, in
// processes of the program itself: the hidden command of both programs, and the processes of the
// command line.
package foreign

import (
	"context"
	"fmt"
	"maps"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/kustomize/build"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/plan/remote"
	"go.landscaper.dev/internal/runtime/sandbox"
)

const (
	// memory and timeout are what one work may take: those of a server with enough memory.
	memory  = 512 << 20
	timeout = 30 * time.Second
)

// Handlers are what the processes do.
func Handlers() map[string]sandbox.Handler {
	handlers := map[string]sandbox.Handler{}
	for _, more := range []map[string]sandbox.Handler{remote.Handlers(), render.Handlers(), build.Handlers()} {
		maps.Copy(handlers, more)
	}
	return handlers
}

// NewCommand returns the hidden command by which a program is such a process. No user calls it.
func NewCommand() *cobra.Command {
	return &cobra.Command{
		Use:    sandbox.Command + " BYTES",
		Short:  "Carry out foreign work for the program that starts this one",
		Hidden: true,
		Args:   commandline.Arguments,
		RunE: func(_ *cobra.Command, args []string) error {
			memory, err := strconv.ParseUint(args[0], 10, 63)
			if err != nil {
				return fmt.Errorf("%q is not a number of bytes", args[0])
			}
			return sandbox.Serve(os.Stdin, os.Stdout, Handlers(), memory)
		},
	}
}

// Program is this program, as its processes are started.
func Program() ([]string, error) {
	if runtime.GOOS == "linux" {
		return []string{"/proc/self/exe", sandbox.Command}, nil // also when the file was replaced
	}
	file, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	return []string{file, sandbox.Command}, nil
}

// key is that of the pool in a context.
type key struct{}

// With lets the foreign work below a context run in processes, which the first work starts. All
// end with this program.
func With(ctx context.Context, command []string) context.Context {
	// A command works for one user, who may have half of the slots.
	return context.WithValue(ctx, key{}, sandbox.Lazy(sandbox.Options{
		Command: command, Slots: 2 * runtime.NumCPU(), Memory: memory, Timeout: timeout, Idle: runtime.NumCPU(),
	}))
}

func pool(ctx context.Context) *sandbox.Pool {
	found, _ := ctx.Value(key{}).(*sandbox.Pool)
	return found
}

// Plans makes the plans of Installations. A context without processes, as in tests, makes them here.
func Plans(ctx context.Context) plan.Maker {
	if pool := pool(ctx); pool != nil {
		return remote.Maker{Pool: pool}
	}
	return plan.Here{}
}

// Charts renders charts.
func Charts(ctx context.Context) render.Renderer {
	if pool := pool(ctx); pool != nil {
		return render.Process{Pool: pool}
	}
	return render.Here{}
}

// Kustomizations builds kustomizations.
func Kustomizations(ctx context.Context) build.Builder {
	if pool := pool(ctx); pool != nil {
		return build.Process{Pool: pool}
	}
	return build.Here{}
}
