package main

import (
	"maps"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/foreign"
	"go.landscaper.dev/internal/model/validation"
	"go.landscaper.dev/internal/runtime/memguard"
	"go.landscaper.dev/internal/server"
	"go.landscaper.dev/internal/server/process"
)

func newRunCommand() *cobra.Command {
	var (
		kubeconfig, configFile, logFormat string
		verbose                           bool
		workers                           map[string]int
		allowed                           []string
	)
	config := server.Default()
	config.AddConsole, config.AddTraces = addConsole, addTraces
	command := &cobra.Command{
		Use:   "run",
		Short: "Run the controllers and deployers",
		Long: `Run the controllers and deployers until the process gets SIGTERM or SIGINT; running
steps get time to end.

All controllers run in one process by default. Choose some of them with
--controllers to run, for example, a deployer next to the cluster that it serves:

  ` + strings.Join(server.Controllers(), "\n  ") + `

The settings come from a file of kind LandscaperConfiguration, if one is given; flags
go before the file.`,
		Example: `  # everything, for the cluster of the current kubeconfig context
  landscaper run

  # only the manifest deployer, against another cluster
  landscaper run --kubeconfig resource.kubeconfig --controllers manifest`,
		Args: commandline.Arguments,
		RunE: func(command *cobra.Command, _ []string) error {
			process.KeepHeapFloor()
			config.MemoryLimit = memguard.SetLimit()
			log, err := process.NewLogger(logFormat, logLevel(verbose))
			if err != nil {
				return err
			}
			if err := complete(command, &config, configFile, workers, allowed, log); err != nil {
				return err
			}
			if config.Cluster, err = process.RESTConfig(kubeconfig, "landscaper"); err != nil {
				return err
			}
			if config.Renderer, err = foreign.Program(); err != nil {
				return err
			}
			return server.Run(command.Context(), config, log)
		},
	}
	flags := command.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "kubeconfig of the resource cluster (default: $KUBECONFIG, then ~/.kube/config, then the cluster that the program runs in)")
	flags.StringVar(&configFile, "config", "", "file of kind LandscaperConfiguration")
	flags.StringToIntVar(&workers, "workers", nil, "objects in work at the same time, as CONTROLLER=NUMBER")
	flags.StringSliceVar(&allowed, "allow-import-from", nil, "SOURCE=NAMESPACE: Installations in NAMESPACE may import Secrets and ConfigMaps from SOURCE; may be repeated")
	flags.StringVar(&logFormat, "log-format", "text", "text or json")
	flags.BoolVarP(&verbose, "verbose", "v", false, "log every step")
	configFlags(flags, &config)
	config.Features.AddFlag(flags)
	return command
}

// configFlags are the flags that take precedence over the file.
func configFlags(flags *pflag.FlagSet, config *server.Config) {
	flags.StringSliceVar(&config.Controllers, "controllers", config.Controllers, "controllers to run")
	flags.StringVar(&config.MetricsAddress, "metrics-address", config.MetricsAddress, "address for metrics; 0 switches them off")
	flags.BoolVar(&config.OpenMetrics, "metrics-open", config.OpenMetrics, "serve metrics without TLS to everybody who reaches the address (default: TLS, for clients that the resource cluster lets get /metrics)")
	flags.StringSliceVar(&config.Namespaces, "namespaces", nil, "namespaces to work in; nothing is read in any other (default: all)")
	flags.DurationVar(&config.UnreadyAfter, "unready-after", config.UnreadyAfter, "time that a watch may fail until /readyz says so")
	flags.StringVar(&config.HealthAddress, "health-address", config.HealthAddress, "address for /healthz and /readyz; 0 switches them off")
	flags.StringVar(&config.Console.Address, "console-address", "", "address for the console, which the configuration describes; 0 switches it off (default: that of the configuration)")
	flags.StringVar(&config.Channels.Webhook.Address, "webhook-address", "", "address for notifications that there is something new for a Channel; 0 switches it off (default: that of the configuration)")
	flags.BoolVar(&config.Console.Actions.Enabled, "console-actions", false, "let users of the console act, with the rights that they have themselves (default: they only read)")
	flags.BoolVar(&config.Console.Plans.Enabled, "console-plans", false, "let users of the console see what a job would change, with the rights that they have themselves (default: they see no plans)")
	flags.StringVar(&config.TraceEndpoint, "trace-endpoint", "", "URL of a collector that takes traces of jobs by OTLP over HTTP, for example https://collector.example.org:4318 (default: no traces)")
	flags.BoolVar(&config.LeaderElection, "leader-elect", false, "let only one of several replicas work")
	flags.StringVar(&config.LeaderElectionNamespace, "leader-election-namespace", "", "namespace for the lease (default: the namespace that the program runs in)")
	flags.StringVar(&config.Namespace, "namespace", process.OwnNamespace(), "namespace for CriticalProblems, where failures of the program itself are recorded, and for the key of stored plans (default: the namespace that the program runs in; none outside a cluster)")
	flags.DurationVar(&config.ShutdownTimeout, "shutdown-timeout", config.ShutdownTimeout, "time that running steps get to end")
	flags.StringVar(&config.AttemptNotes, "attempt-notes", "", "directory, of this process alone, that survives its end: attempts are noted there before they begin, so that one that ends the process is not repeated again and again (default: none are noted)")
	flags.DurationVar(&config.PickupTimeout, "pickup-timeout", config.PickupTimeout, "time until a deployer must have taken an item up; 0 means no limit")
	flags.BoolVar(&config.Triggers.OnSpecChange, "reconcile-on-spec-change", false, "start a job of each root Installation that is new or whose spec was changed")
	flags.BoolVar(&config.Triggers.OnImportChange, "reconcile-on-import-change", false, "start a job of each root Installation when a DataObject, Target, Secret or ConfigMap that it imports was changed")
	flags.BoolVar(&config.Egress.AllowLoopback, "egress-allow-loopback", false, "let Targets, registries and template functions reach this machine; for tests and development")
}

// complete adds the file and the remaining flags to the configuration.
func complete(command *cobra.Command, config *server.Config, file string, workers map[string]int, allowed []string, log logr.Logger) error {
	if file != "" {
		fromFlags := *config
		warnings, err := config.Load(file)
		if err != nil {
			return err
		}
		for _, warning := range warnings {
			log.Info("configuration", "warning", warning)
		}
		keepFlags(command, config, &fromFlags)
	}
	for name, count := range workers {
		config.Workers[name] = count
	}
	sources, err := parseSourceNamespaces(allowed)
	if err != nil {
		return err
	}
	if config.SourceNamespaces == nil {
		config.SourceNamespaces = validation.SourceNamespaces{}
	}
	maps.Copy(config.SourceNamespaces, sources)
	return nil
}

// keepFlags puts back what the user gave as a flag after a file was read.
func keepFlags(command *cobra.Command, config, fromFlags *server.Config) {
	if command.Flags().Changed("controllers") {
		config.Controllers = fromFlags.Controllers
	}
	if command.Flags().Changed("pickup-timeout") {
		config.PickupTimeout = fromFlags.PickupTimeout
	}
	if command.Flags().Changed("egress-allow-loopback") {
		config.Egress.AllowLoopback = fromFlags.Egress.AllowLoopback
	}
	if command.Flags().Changed("reconcile-on-spec-change") {
		config.Triggers.OnSpecChange = fromFlags.Triggers.OnSpecChange
	}
	if command.Flags().Changed("reconcile-on-import-change") {
		config.Triggers.OnImportChange = fromFlags.Triggers.OnImportChange
	}
	if command.Flags().Changed("metrics-address") {
		config.MetricsAddress = fromFlags.MetricsAddress
	}
	if command.Flags().Changed("console-address") {
		config.Console.Address = fromFlags.Console.Address
	}
	if command.Flags().Changed("webhook-address") {
		config.Channels.Webhook.Address = fromFlags.Channels.Webhook.Address
	}
	if command.Flags().Changed("console-actions") {
		config.Console.Actions.Enabled = fromFlags.Console.Actions.Enabled
	}
	if command.Flags().Changed("console-plans") {
		config.Console.Plans.Enabled = fromFlags.Console.Plans.Enabled
	}
	if command.Flags().Changed("metrics-open") {
		config.OpenMetrics = fromFlags.OpenMetrics
	}
	if command.Flags().Changed("namespaces") {
		config.Namespaces = fromFlags.Namespaces
	}
}

func logLevel(verbose bool) string {
	if verbose {
		return "debug"
	}
	return "info"
}
