package change

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/connection"
	"go.landscaper.dev/internal/cli/installations/await"
	"go.landscaper.dev/internal/cli/installations/jobs"
	"go.landscaper.dev/internal/cli/installations/plan"
	"go.landscaper.dev/internal/cli/repositories"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/landscape/history"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/requests"
	"go.landscaper.dev/internal/model/revision"
)

type rollbackFlags struct {
	connection.Flags
	registry repositories.Flags
	tokens   connection.TokenFlag
	wait     await.Flags
	to       string
	// named is what blueprints.namedTargets is for the server.
	named                             bool
	agree, dryRun, withoutPlan, waits bool
}

// NewRollbackCommand returns the command that goes back to an earlier specification.
func NewRollbackCommand(streams terminal.Streams) *cobra.Command {
	f := &rollbackFlags{wait: await.Flags{Goal: string(inspect.GoalSucceeded)}}
	command := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Give a root Installation an earlier specification again, and start a job with it",
		Long: `Give a root Installation the specification again that it had in a job, and start a job
with it: the component version, the blueprint, fixed values, and where imports come from.
Without --to, it is the last specification that is another one and has succeeded. Values
of imports do not go back; those that have changed since are named.

Before, it is shown what changes in the specification, and the plan of the job. On a
terminal, the command asks then; without one, it changes nothing without --yes. Windows
and pauses count for the job as for any other.

The server keeps specifications where a DeliveryPolicy has spec.history.`,
		Example: `  landscaper-cli installations rollback shop --dry-run
  landscaper-cli inst rollback shop --to 57f02bd1 --yes --wait`,
		Args: terminal.Arguments(cobra.MatchAll(connection.NeedsName, commandline.Arguments)),
		RunE: func(command *cobra.Command, args []string) error {
			on, err := f.Connect()
			if err != nil {
				return err
			}
			return f.run(command.Context(), streams, on, args[0])
		},
		ValidArgsFunction: connection.CompleteRoots(&f.Flags, 1),
	}
	f.Add(command)
	f.registry.Add(command)
	f.tokens.Add(command)
	flags := command.Flags()
	flags.StringVar(&f.to, "to", "", "`job` whose specification it is, by its ID or a beginning of it")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only show what would change")
	flags.BoolVar(&f.withoutPlan, "without-plan", false, "do not work out what the job would change on the clusters")
	flags.BoolVar(&f.named, "named-targets", false, "blueprints may name every Target and Secret, as where the server has blueprints.namedTargets")
	flags.BoolVarP(&f.agree, "yes", "y", false, "do not ask")
	flags.BoolVar(&f.waits, "wait", false, "wait for the new job and show its result")
	f.wait.AddLimits(command)
	complete := func(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return jobs.IDs(command.Context(), &f.Flags, args[0]), cobra.ShellCompDirectiveNoFileComp
	}
	_ = command.RegisterFlagCompletionFunc("to", complete) // the flag exists
	terminal.BeStrict(command)
	return command
}

func (f *rollbackFlags) run(ctx context.Context, streams terminal.Streams, on *connection.Connection, name string) error {
	tree, snapshot, err := on.Tree(ctx, name)
	if err != nil {
		return err
	}
	root := tree.Installation.DeepCopy()
	way, err := f.find(ctx, on, tree, snapshot)
	if err != nil {
		return err
	}
	if err := way.show(streams.Out, root, streams.Color()); err != nil {
		return err
	}
	if !f.withoutPlan {
		// The plan is that of the tree with the earlier specification.
		way.spec.DeepCopyInto(&tree.Installation.Spec)
		connection.WarnUnreadable(streams.Err, "the plan is not complete", snapshot)
		if err := f.plan(ctx, streams, on, tree, inspect.Forest(snapshot)); err != nil {
			return fmt.Errorf("work out the plan (--without-plan goes back without it): %w", err)
		}
	}
	if f.dryRun {
		return nil
	}
	if !f.agree && !streams.Terminal {
		return errors.New("nothing was changed: say with --yes that the Installation is to go back")
	}
	if err := streams.Confirm("Go back to generation "+fmt.Sprint(way.to.Spec.Generation)+"?", f.agree); err != nil {
		return err
	}
	back := revision.Back{From: root.Generation, To: way.to.Spec.Generation, Mode: revision.Requested}
	_, err = requests.GoBack(ctx, on.Client, root, way.to, back)
	if apierrors.IsConflict(err) {
		return fmt.Errorf("nothing was changed: the Installation was written meanwhile: look at it, and repeat the command: %w", err)
	}
	if err != nil {
		return on.Explain(err)
	}
	fmt.Fprintf(streams.Out, "The Installation %s has the specification of generation %d again, and a job with it was asked for\n", terminal.Printable(name), way.to.Spec.Generation)
	if !f.waits {
		return nil
	}
	return awaitJob(ctx, on, streams, f.wait, root)
}

// wayBack is a specification to which a root can go back.
type wayBack struct {
	to   *deliveryv1alpha1.DeliveryRevision
	spec *v1alpha1.InstallationSpec
	// job is the last job with it that has the phase; nil if none is recorded any more.
	job *v1alpha1.JobRecord
	// elsewhere are the imports whose values do not go back.
	elsewhere []history.Elsewhere
}

// find returns the specification that is asked for.
func (f *rollbackFlags) find(ctx context.Context, on *connection.Connection, tree *inspect.Node, snapshot inspect.Snapshot) (*wayBack, error) {
	root := tree.Installation
	if err := requests.CheckRoot(root); err != nil {
		return nil, err
	}
	if root.DeletionTimestamp != nil {
		return nil, fmt.Errorf("the Installation %s is being deleted", root.Name)
	}
	way := &wayBack{}
	if f.to != "" {
		found, err := history.Find(history.JobsOf(tree, snapshot.Events), f.to)
		if err != nil {
			return nil, err // names the job
		}
		way.job = &found.JobRecord
	}
	all, err := requests.Revisions(ctx, on.Client, root)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("the cluster does not serve the kind DeliveryRevision: landscaper install --feature-gates=DeliveryPolicies=true brings it: %w", err)
	}
	if err != nil {
		return nil, on.Explain(err)
	}
	if way.to, err = revision.Earlier(root, all, way.job); err != nil {
		return nil, fmt.Errorf("the Installation %s cannot go back: %w; a DeliveryPolicy with spec.history keeps specifications from the next job on", root.Name, err)
	}
	if way.spec, err = revision.Specification(way.to); err != nil {
		return nil, err
	}
	if way.job == nil {
		way.job = history.LastOf(root.Status.History, way.to.Spec.Generation)
	}
	if way.job != nil {
		way.elsewhere = history.ElsewhereOf(way.spec, root.Status.History, *way.job)
	}
	return way, nil
}

// show says what changes in the specification, and what does not go back with it.
func (w *wayBack) show(out io.Writer, root *v1alpha1.Installation, color bool) error {
	of := ""
	if w.job != nil {
		of = fmt.Sprintf(" of job %s, which ended as %s", w.job.JobID, w.job.Phase)
	}
	fmt.Fprintf(out, "%s\n", terminal.Printable(fmt.Sprintf("Installation %s: from generation %d back to generation %d%s", root.Name, root.Generation, w.to.Spec.Generation, of)))
	changes, err := specChanges(root.Spec, w.spec)
	if err != nil {
		return err
	}
	if err := plan.WriteFields(out, changes, color); err != nil {
		return err
	}
	for _, imported := range w.elsewhere {
		if imported.Changed() {
			fmt.Fprintf(out, "      %s\n", terminal.Printable(fmt.Sprintf("import %s stays as it is: its value comes from %s, and has changed since (%s, now %s)", imported.Name, imported.From, imported.Then, imported.Now)))
		}
	}
	return nil
}

// specChanges are the fields that change. Fixed values of imports may be confidential.
func specChanges(before v1alpha1.InstallationSpec, after *v1alpha1.InstallationSpec) ([]diff.Field, error) {
	present, err := fieldsOf(before)
	if err != nil {
		return nil, err
	}
	earlier, err := fieldsOf(*after)
	if err != nil {
		return nil, err
	}
	changes := diff.Fields(present, earlier)
	for i := range changes {
		if strings.HasPrefix(changes[i].Path, "importDataMappings") {
			changes[i].Secret = true
		}
	}
	return changes, nil
}

func fieldsOf(spec v1alpha1.InstallationSpec) (any, error) {
	raw, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encode the specification: %w", err)
	}
	return jsonvalue.FromJSONWithNumbers(raw)
}

// plan shows what the job would change on the clusters.
func (f *rollbackFlags) plan(ctx context.Context, streams terminal.Streams, on *connection.Connection, tree *inspect.Node, roots []*inspect.Node) error {
	access, err := f.registry.AccessWithin(streams, on.Egress())
	if err != nil {
		return err
	}
	components, base := access.Base()
	previewer := plan.Previewer(ctx, on, f.tokens.Tokens(on), components, base)
	previewer.NamedTargets = f.named
	result, err := previewer.Of(ctx, tree, roots)
	if err != nil {
		return on.Explain(access.Explain(ctx, err))
	}
	return plan.Write(streams, result, streams.Color())
}
