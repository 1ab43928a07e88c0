// Package change has the commands that change Installations: create, start, end and
// delete them.
package change

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/installations/await"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/treeview"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
	"go.landscaper.dev/internal/landscape/requests"
)

// NewReconcileCommand returns the command that starts a job.
func NewReconcileCommand(streams terminal.Streams) *cobra.Command {
	f := &connection.Flags{}
	w := await.Flags{Goal: string(inspect.GoalSucceeded)}
	wait := false
	command := &cobra.Command{
		Use:   "reconcile NAME",
		Short: "Start a job of a root Installation",
		Long: `Start a job of a root Installation. If a job is running, the new one starts when it
has ended. With --wait, wait for the new job and show its result.`,
		Example: `  landscaper-cli installations reconcile shop
  landscaper-cli inst reconcile shop --wait --timeout 10m`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			if wait {
				terminal.BeStrict(command)
			}
			on, err := f.Connect()
			if err != nil {
				return err
			}
			before, err := request(command, on, args[0], v1alpha1.ReconcileOperation)
			if err != nil || !wait {
				return err
			}
			return awaitJob(command.Context(), on, streams, w, before)
		},
		ValidArgsFunction: connection.CompleteRoots(f, 1),
	}
	f.Add(command)
	command.Flags().BoolVar(&wait, "wait", false, "wait for the new job and show its result")
	w.AddLimits(command)
	return command
}

// NewInterruptCommand returns the command that ends a job as failed.
func NewInterruptCommand() *cobra.Command {
	f := &connection.Flags{}
	command := &cobra.Command{
		Use:   "interrupt NAME",
		Short: "End the running job of an Installation as failed",
		Long: `End the running job of an Installation: everything in its tree that is not finished
becomes Failed. What a deployer is doing at this moment is not stopped.`,
		Example: `  landscaper-cli installations interrupt shop`,
		Args:    terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			on, err := f.Connect()
			if err != nil {
				return err
			}
			_, err = request(command, on, args[0], v1alpha1.InterruptOperation)
			return err
		},
		ValidArgsFunction: connection.CompleteInstallations(f, 1),
	}
	f.Add(command)
	return command
}

// request asks for an operation on an Installation, reports it, and returns the
// Installation as it was before.
func request(command *cobra.Command, on *connection.Connection, name string, asked v1alpha1.Operation) (*v1alpha1.Installation, error) {
	before, err := requests.Request(command.Context(), on.Client, client.ObjectKey{Namespace: on.Namespace, Name: name}, asked)
	if err != nil {
		return nil, on.Explain(err)
	}
	for _, remark := range requests.Remarks(before, asked) {
		fmt.Fprintln(command.ErrOrStderr(), remark)
	}
	fmt.Fprintf(command.OutOrStdout(), "The %s annotation was added to the installation\n", asked)
	return before, nil
}

// awaitJob waits for the job after the one that an Installation had, and shows
// its result.
func awaitJob(ctx context.Context, on *connection.Connection, streams terminal.Streams, flags await.Flags, before *v1alpha1.Installation) error {
	if before.DeletionTimestamp != nil {
		flags.Goal = string(inspect.GoalDeleted)
	}
	start := inspect.Start{UID: before.UID, AfterJob: true, JobID: before.Status.JobID}
	waited := await.New(streams, on, flags, map[string]inspect.Start{before.Name: start}).Run(ctx)
	if waited != nil && terminal.ExitCode(waited, true) != terminal.ExitEndedBadly {
		return waited
	}
	snapshot, err := reading.Collect(ctx, on.Client, on.Namespace)
	if err != nil {
		return errors.Join(waited, on.Explain(err))
	}
	if result := inspect.Tree(snapshot, on.Namespace, before.Name); result != nil {
		options := treeview.Options{ASCII: streams.ASCII(), Color: streams.Color(), Columns: streams.Columns()}
		return errors.Join(waited, treeview.Write(streams.Out, []*inspect.Node{result}, options))
	}
	return waited
}
