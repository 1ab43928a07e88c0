package change

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/installations/await"
	"go.landscaper.dev/internal/cli/installations/plan"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/requests"
)

// impactTimeout is how long the clusters may take to say which objects a deletion removes.
const impactTimeout = 30 * time.Second

type deleteFlags struct {
	connection.Flags
	wait                       await.Flags
	tokens                     connection.TokenFlag
	waits, dryRun, keep, agree bool
}

// NewDeleteCommand returns the command that deletes an Installation.
func NewDeleteCommand(streams terminal.Streams) *cobra.Command {
	f := &deleteFlags{wait: await.Flags{Goal: string(inspect.GoalDeleted)}}
	command := &cobra.Command{
		Use:   "delete NAME",
		Short: "Delete an Installation, and show what goes on which cluster and in which order",
		Long: `Delete an Installation. Before, it is shown what goes on which cluster, and in which
order: what has the same number goes at the same time. The clusters are asked for what is
there; what they do not tell is shown as it was recorded. What an item of another
Installation wants stays, and is shown with that item. On a terminal, the command asks then.

With --without-uninstall, what was deployed stays on its clusters.`,
		Example: `  landscaper-cli installations delete shop --dry-run
  landscaper-cli inst delete shop --yes --wait --timeout 20m`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			on, err := f.Connect()
			if err != nil {
				return err
			}
			return f.run(command.Context(), streams, on, args[0])
		},
		ValidArgsFunction: connection.CompleteInstallations(&f.Flags, 1),
	}
	f.Add(command)
	flags := command.Flags()
	flags.BoolVar(&f.waits, "wait", false, "wait until it is deleted")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only show what would go")
	flags.BoolVar(&f.keep, "without-uninstall", false, "leave on the clusters what was deployed")
	flags.BoolVarP(&f.agree, "yes", "y", false, "do not ask")
	f.tokens.Add(command)
	f.wait.AddLimits(command)
	terminal.BeStrict(command)
	return command
}

func (f *deleteFlags) run(ctx context.Context, streams terminal.Streams, on *connection.Connection, name string) error {
	tree, snapshot, err := on.Tree(ctx, name)
	if err != nil {
		return err
	}
	connection.WarnUnreadable(streams.Err, "the preview is not complete", snapshot)
	if parent := inspect.Parent(tree.Installation); parent != "" {
		fmt.Fprintf(streams.Err, "Warning: %s is a part of %s, whose next job brings it back\n", terminal.Printable(name), terminal.Printable(parent))
	}
	uninstalls := requests.Uninstalls(tree)
	if !f.keep {
		uninstalls = f.foresee(ctx, on, tree, inspect.Forest(snapshot))
	}
	showUninstalls(streams.Out, uninstalls, f.keep)
	if f.dryRun {
		return nil
	}
	if err := streams.Confirm("Delete the Installation "+name+"?", f.agree); err != nil {
		return err
	}
	uid := tree.Installation.UID
	if err := requests.Delete(ctx, on.Client, tree.Installation, f.keep); err != nil {
		return on.Explain(err)
	}
	if !f.waits {
		fmt.Fprintf(streams.Out, "The deletion of the Installation %s was asked for\n", terminal.Printable(name))
		return nil
	}
	starts := map[string]inspect.Start{name: {UID: uid, AfterJob: true, JobID: tree.JobID}}
	return await.New(streams, on, f.wait, starts).Run(ctx)
}

// foresee asks the clusters which objects will be deleted. Without an answer within a limit,
// the recorded objects are shown.
func (f *deleteFlags) foresee(ctx context.Context, on *connection.Connection, tree *inspect.Node, roots []*inspect.Node) []requests.Uninstall {
	ctx, cancel := context.WithTimeout(ctx, impactTimeout)
	defer cancel()
	return plan.Previewer(ctx, on, f.tokens.Tokens(on), nil, component.Options{}).Uninstalls(ctx, tree, roots)
}

// showUninstalls tells what goes, in order.
func showUninstalls(out io.Writer, uninstalls []requests.Uninstall, keep bool) {
	if len(uninstalls) == 0 {
		fmt.Fprintln(out, "Nothing is deployed.")
		return
	}
	for _, u := range uninstalls {
		where := ""
		if u.Target != "" {
			where = " on " + u.Target
		}
		stays := ""
		if keep || u.Kept {
			stays = " (what it has deployed stays)"
		}
		fmt.Fprintf(out, "%d. %s%s%s\n", u.Step, terminal.Printable(u.Path), terminal.Printable(where), stays)
		if stays != "" {
			continue
		}
		for _, object := range u.Objects {
			fmt.Fprintf(out, "   - %s\n", terminal.Printable(named(object)))
		}
		for _, move := range u.Moves {
			fmt.Fprintf(out, "   → %s moves to deploy item %s\n", terminal.Printable(named(move.Object)), terminal.Printable(move.To))
		}
		for _, stay := range u.Stays {
			fmt.Fprintf(out, "   = %s stays, %s\n", terminal.Printable(named(stay.Object)), terminal.Printable(stay.Reason))
		}
		for _, unknown := range u.Unknown {
			fmt.Fprintf(out, "   ? %s\n", terminal.OneLine(unknown))
		}
		for _, earlier := range u.EarlierClusters {
			showLeftovers(out, earlier)
		}
	}
}

// showLeftovers tells what goes from a cluster to which the Target of an item led before.
func showLeftovers(out io.Writer, earlier requests.Leftovers) {
	var left []string
	if earlier.Release != "" {
		left = append(left, "release "+earlier.Release)
	}
	for _, object := range earlier.Objects {
		left = append(left, named(object))
	}
	for _, name := range left {
		fmt.Fprintf(out, "   - %s on the earlier cluster %s\n", terminal.Printable(name), terminal.Printable(earlier.Cluster))
	}
}

func named(object corev1.ObjectReference) string {
	if object.Namespace == "" {
		return object.Kind + " " + object.Name
	}
	return object.Kind + " " + object.Namespace + "/" + object.Name
}
