package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/internal/server/process"
	"go.landscaper.dev/internal/server/selfcheck"
)

func newCheckCommand() *cobra.Command {
	var kubeconfig, namespace string
	var timeout time.Duration
	command := &cobra.Command{
		Use:   "check",
		Short: "Check that the server works: run and delete an Installation that deploys nothing",
		Long: `Create an Installation that deploys nothing, wait until its job has succeeded, delete
it, and wait until it no longer exists. "helm test" runs this command.`,
		Example: `  landscaper check --namespace team-a`,
		Args:    commandline.Arguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if namespace == "" {
				return errors.New("--namespace: name one that the server works in")
			}
			scheme := install.Scheme()
			if err := v1alpha1.AddToScheme(scheme); err != nil {
				return err // a type that is registered twice
			}
			cluster, err := connect(kubeconfig, scheme)
			if err != nil {
				return err
			}
			ctx, cancel := contextWithTimeout(command.Context(), timeout)
			defer cancel()
			return selfcheck.Run(ctx, cluster, namespace, command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of the resource cluster (default: $KUBECONFIG, then ~/.kube/config, then the cluster that the program runs in)")
	flags.StringVarP(&namespace, "namespace", "n", process.OwnNamespace(), "namespace of the Installation (default: the namespace that the program runs in)")
	flags.DurationVar(&timeout, "timeout", time.Minute, "how long it may take; 0 means no limit")
	return command
}
