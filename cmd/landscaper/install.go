package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/model/validation"
	"go.landscaper.dev/internal/server/feature"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/internal/server/process"
)

func newInstallCommand() *cobra.Command {
	var (
		kubeconfig string
		allowed    []string
		timeout    time.Duration
		options    install.Options
		gates      = feature.Gates()
	)
	command := &cobra.Command{
		Use:   "install",
		Short: "Install or upgrade the CRDs and admission policies",
		Long: `Install or upgrade the CRDs and admission policies of Landscaper in a cluster and
wait until the API server serves them.

It is safe to run it again, and next to CRDs that another distribution of
Landscaper installed: objects that are stored keep working. It refuses to replace
what a newer release installed.`,
		Example: `  # the cluster of the current kubeconfig context
  landscaper install

  # another cluster; let Installations in namespace team-a import Secrets from shared
  landscaper install --kubeconfig resource.kubeconfig --allow-import-from shared=team-a`,
		Args: commandline.Arguments,
		RunE: func(command *cobra.Command, _ []string) error {
			sources, err := parseSourceNamespaces(allowed)
			if err != nil {
				return err
			}
			options.SourceNamespaces = sources
			options.Delivery, options.Fleets = gates.Enabled(feature.DeliveryPolicies), gates.Enabled(feature.Fleets)
			cluster, err := connect(kubeconfig, install.Scheme())
			if err != nil {
				return err
			}
			ctx, cancel := contextWithTimeout(command.Context(), timeout)
			defer cancel()
			return install.Run(ctx, cluster, options, command.OutOrStdout())
		},
	}
	flags := command.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of the cluster (default: $KUBECONFIG, then ~/.kube/config, then the cluster that the program runs in)")
	flags.StringSliceVar(&allowed, "allow-import-from", nil, "SOURCE=NAMESPACE: Installations in NAMESPACE may import Secrets and ConfigMaps from SOURCE; may be repeated")
	gates.AddFlag(flags)
	flags.BoolVar(&options.SkipPolicies, "skip-policies", false, "install the CRDs only")
	flags.BoolVar(&options.AllowDowngrade, "allow-downgrade", false, "replace CRDs of a newer release; fields that only the newer release knows are lost")
	flags.DurationVar(&timeout, "timeout", time.Minute, "how long to wait until the API server serves the kinds; 0 means no limit")
	return command
}

// connect connects to the resource cluster.
func connect(kubeconfig string, scheme *runtime.Scheme) (client.WithWatch, error) {
	config, err := process.RESTConfig(kubeconfig, "landscaper")
	if err != nil {
		return nil, err // names the kubeconfig
	}
	cluster, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return cluster, nil
}

// parseSourceNamespaces reads SOURCE=NAMESPACE pairs.
func parseSourceNamespaces(pairs []string) (validation.SourceNamespaces, error) {
	sources := validation.SourceNamespaces{}
	for _, pair := range pairs {
		source, namespace, ok := strings.Cut(pair, "=")
		if !ok || len(utilvalidation.IsDNS1123Label(source)) > 0 || len(utilvalidation.IsDNS1123Label(namespace)) > 0 {
			return nil, fmt.Errorf("--allow-import-from %q: want SOURCE=NAMESPACE, two names of namespaces", pair)
		}
		sources[source] = append(sources[source], namespace)
	}
	return sources, nil
}
