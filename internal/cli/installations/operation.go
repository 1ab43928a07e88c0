package installations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/tree"
	"go.landscaper.dev/internal/inspect"
)

func newReconcileCommand(streams terminal.Streams) *cobra.Command {
	f := &connectionFlags{}
	w := waitFlags{goal: string(inspect.GoalSucceeded)}
	wait := false
	command := &cobra.Command{
		Use:   "reconcile NAME",
		Short: "Start a job of a root Installation",
		Long: `Start a job of a root Installation. If a job is running, the new one starts when it
has ended. With --wait, wait for the new job and show its result.`,
		Example: `  landscaper-cli installations reconcile shop
  landscaper-cli inst reconcile shop --wait --timeout 10m`,
		Args: terminal.Arguments(cobra.MatchAll(needsName, cobra.ExactArgs(1))),
		RunE: func(command *cobra.Command, args []string) error {
			if wait {
				terminal.BeStrict(command)
			}
			connection, err := f.connect()
			if err != nil {
				return err
			}
			before, err := connection.request(command, args[0], v1alpha1.ReconcileOperation)
			if err != nil || !wait {
				return err
			}
			return connection.awaitJob(command.Context(), streams, w, before)
		},
		ValidArgsFunction: completeInstallations(f, 1),
	}
	f.add(command)
	command.Flags().BoolVar(&wait, "wait", false, "wait for the new job and show its result")
	w.addLimits(command)
	return command
}

func newInterruptCommand() *cobra.Command {
	f := &connectionFlags{}
	command := &cobra.Command{
		Use:   "interrupt NAME",
		Short: "End the running job of an Installation as failed",
		Long: `End the running job of an Installation: everything in its tree that is not finished
becomes Failed. What a deployer is doing at this moment is not stopped.`,
		Args: terminal.Arguments(cobra.MatchAll(needsName, cobra.ExactArgs(1))),
		RunE: func(command *cobra.Command, args []string) error {
			connection, err := f.connect()
			if err != nil {
				return err
			}
			_, err = connection.request(command, args[0], v1alpha1.InterruptOperation)
			return err
		},
		ValidArgsFunction: completeInstallations(f, 1),
	}
	f.add(command)
	return command
}

func needsName(_ *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "" {
		return errors.New("installationName was not defined: name the Installation")
	}
	return nil
}

// request asks for an operation on an Installation and returns the Installation
// as it was before.
func (c *connection) request(command *cobra.Command, name string, operation v1alpha1.Operation) (*v1alpha1.Installation, error) {
	var before *v1alpha1.Installation
	err := retry.OnError(retry.DefaultBackoff, passes, func() error {
		present, err := c.installation(command.Context(), name)
		if err != nil {
			return fmt.Errorf("failed to read installation: %w", c.explain(err))
		}
		if before != nil && arrived(before, present, operation) {
			return nil
		}
		if before == nil {
			if operation == v1alpha1.ReconcileOperation && inspect.Parent(present) != "" {
				return fmt.Errorf("the command is only supported for root installations: %s is a part of %s, reconcile that", name, inspect.Parent(present))
			}
			before = present
		}
		if err := c.annotate(command.Context(), present, operation); err != nil {
			return fmt.Errorf("failed to update installation: %w", c.explain(err))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, remark := range remarks(before, operation) {
		fmt.Fprintln(command.ErrOrStderr(), remark)
	}
	fmt.Fprintf(command.OutOrStdout(), "The %s annotation was added to the installation\n", operation)
	return before, nil
}

// annotate changes nothing but the annotation, so that it never conflicts with a
// controller. The UID keeps it off another Installation that took the name.
func (c *connection) annotate(ctx context.Context, installation *v1alpha1.Installation, operation v1alpha1.Operation) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         installation.UID,
		"annotations": map[string]string{v1alpha1.OperationAnnotation: string(operation)},
	}})
	if err != nil {
		return err
	}
	return c.client.Patch(ctx, installation.DeepCopy(), client.RawPatch(types.MergePatchType, patch))
}

// arrived tells that an attempt whose answer was lost did take effect. Asking
// again would start a second job.
func arrived(before, present *v1alpha1.Installation, operation v1alpha1.Operation) bool {
	return present.Annotations[v1alpha1.OperationAnnotation] == string(operation) && before.Annotations[v1alpha1.OperationAnnotation] != string(operation) ||
		present.Status.JobID != before.Status.JobID
}

// passes tells that another attempt may go better: the API server says so, or
// there was no answer at all.
func passes(err error) bool {
	var unanswered *url.Error
	return apierrors.IsConflict(err) || apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) ||
		errors.As(err, &unanswered) && !errors.Is(err, context.Canceled)
}

// remarks are what a user may not expect about a request.
func remarks(before *v1alpha1.Installation, operation v1alpha1.Operation) []string {
	var remarks []string
	running := before.Status.JobID != before.Status.JobIDFinished
	pending := before.Annotations[v1alpha1.OperationAnnotation]
	switch {
	case pending == string(operation):
		remarks = append(remarks, fmt.Sprintf("Warning: operation %q was already pending", pending))
	case pending != "":
		remarks = append(remarks, fmt.Sprintf("Warning: operation %q was pending and is replaced", pending))
	}
	switch {
	case operation == v1alpha1.ReconcileOperation && running:
		remarks = append(remarks, "Note: a job is running; the new one starts when it has ended")
	case operation == v1alpha1.InterruptOperation && !running:
		remarks = append(remarks, "Note: no job is running")
	}
	return remarks
}

// awaitJob waits for the job after the one that an Installation had, and shows
// its result.
func (c *connection) awaitJob(ctx context.Context, streams terminal.Streams, flags waitFlags, before *v1alpha1.Installation) error {
	if before.DeletionTimestamp != nil {
		flags.goal = string(inspect.GoalDeleted)
	}
	start := inspect.Start{UID: before.UID, AfterJob: true, JobID: before.Status.JobID}
	waited := newWait(streams, c, flags, map[string]inspect.Start{before.Name: start}).run(ctx)
	if waited != nil && terminal.ExitCode(waited, true) != terminal.ExitEndedBadly {
		return waited
	}
	snapshot, err := inspect.Collect(ctx, c.client, c.namespace)
	if err != nil {
		return errors.Join(waited, c.explain(err))
	}
	if result := inspect.Tree(snapshot, c.namespace, before.Name); result != nil {
		options := tree.Options{ASCII: streams.ASCII(), Color: streams.Color(), Columns: streams.Columns()}
		return errors.Join(waited, tree.Write(streams.Out, []*inspect.Node{result}, options))
	}
	return waited
}
