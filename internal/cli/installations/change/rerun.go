package change

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/installations/await"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
	"go.landscaper.dev/internal/landscape/requests"
)

type rerunFlags struct {
	connection.Flags
	wait          await.Flags
	failed, waits bool
}

// NewRerunCommand returns the command that starts jobs again.
func NewRerunCommand(streams terminal.Streams) *cobra.Command {
	f := &rerunFlags{wait: await.Flags{Goal: string(inspect.GoalSucceeded)}}
	command := &cobra.Command{
		Use:   "rerun [NAME...]",
		Short: "Start a job again for the root Installations that have failed",
		Long: `Start a job for root Installations. With --failed, only those get one whose last job
has failed; without names, these are all of the namespace.`,
		Example: `  landscaper-cli installations rerun --failed
  landscaper-cli inst rerun --failed shop tools --wait`,
		Args: terminal.Arguments(func(command *cobra.Command, args []string) error {
			if len(args) == 0 && !f.failed {
				return commandline.Wrong(command, commandline.Missing("NAME")+": name the Installations, or choose with --failed those that have failed")
			}
			return nil
		}),
		RunE: func(command *cobra.Command, args []string) error {
			on, err := f.Connect()
			if err != nil {
				return err
			}
			return f.run(command, streams, on, args)
		},
		ValidArgsFunction: connection.CompleteRoots(&f.Flags, -1),
	}
	f.Add(command)
	command.Flags().BoolVar(&f.failed, "failed", false, "only Installations whose last job has failed")
	command.Flags().BoolVar(&f.waits, "wait", false, "wait for the jobs")
	f.wait.AddLimits(command)
	terminal.BeStrict(command)
	return command
}

func (f *rerunFlags) run(command *cobra.Command, streams terminal.Streams, on *connection.Connection, names []string) error {
	ctx := command.Context()
	chosen, err := f.choose(ctx, on, names)
	if err != nil {
		return err
	}
	if len(chosen) == 0 {
		fmt.Fprintf(streams.Err, "No root Installation has failed in namespace %s.\n", on.Namespace)
		return nil
	}
	starts := map[string]inspect.Start{}
	for _, name := range chosen {
		fmt.Fprintf(streams.Out, "%s: ", terminal.Printable(name))
		before, err := request(command, on, name, v1alpha1.ReconcileOperation)
		if err != nil {
			return err
		}
		starts[name] = inspect.Start{UID: before.UID, AfterJob: true, JobID: before.Status.JobID}
	}
	if !f.waits {
		return nil
	}
	return await.New(streams, on, f.wait, starts).Run(ctx)
}

// choose returns the names of those that get a job, in the order of the forest.
func (f *rerunFlags) choose(ctx context.Context, on *connection.Connection, names []string) ([]string, error) {
	snapshot, err := reading.Collect(ctx, on.Client, on.Namespace)
	if err != nil {
		return nil, on.Explain(err)
	}
	for _, name := range names {
		found := await.Find(snapshot, on.Namespace, name)
		if found == nil {
			return nil, on.Missing(name)
		}
		if err := requests.CheckRoot(found); err != nil {
			return nil, err
		}
	}
	var chosen []string
	for _, root := range inspect.Forest(snapshot) {
		named := len(names) == 0 || slices.Contains(names, root.Name)
		if named && !root.Orphaned && (!f.failed || requests.Failed(root)) {
			chosen = append(chosen, root.Name)
		}
	}
	return chosen, nil
}
