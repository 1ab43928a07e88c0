// Package foreign has the hidden command by which both programs carry out what others have written,
// and the processes of the command line.
package foreign

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/deploy/renderers"
	"go.landscaper.dev/internal/runtime/sandbox"
)

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
			return sandbox.Serve(os.Stdin, os.Stdout, renderers.Handlers(), memory)
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
		Command: command, Slots: 2 * runtime.NumCPU(), Memory: renderers.Memory, Timeout: renderers.Timeout, Idle: runtime.NumCPU(),
	}))
}

// Renderers are those of a context; without processes, as in tests, the work is done here.
func Renderers(ctx context.Context) renderers.Renderers {
	pool, _ := ctx.Value(key{}).(*sandbox.Pool)
	return renderers.Renderers{Pool: pool}
}
