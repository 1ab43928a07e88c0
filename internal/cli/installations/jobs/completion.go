package jobs

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"go.landscaper.dev/internal/cli/connection"
)

// completionTimeout is how long a user waits for a proposal after pressing tab.
const completionTimeout = 3 * time.Second

// completeJobs proposes an Installation, and then up to limit of its jobs.
func completeJobs(f *connection.Flags, limit int) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return connection.CompleteInstallations(f, 1)(command, args, text)
		case len(args) > limit:
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ids := IDs(command.Context(), f, args[0])
		return slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(args[1:], id) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// IDs are those of the jobs of an Installation, the newest first. Whatever goes wrong means no proposals: a
// shell has no place for an error.
func IDs(ctx context.Context, f *connection.Flags, name string) []string {
	on, err := f.Connect()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	inst, err := on.Installation(ctx, name)
	if err != nil {
		return nil
	}
	var ids []string
	for _, job := range inst.Status.History {
		ids = append(ids, job.JobID)
	}
	return ids
}
