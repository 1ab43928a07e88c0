// Command gardener-extension-shoot-flux is the Gardener extension that brings Flux into
// shoots.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"go.landscaper.dev/internal/base/version"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/controller/shootflux/install"
	"go.landscaper.dev/internal/server/process"
	"go.landscaper.dev/internal/server/shootflux"

	"go.landscaper.dev/internal/content/component"
)

// program is also the user agent at API servers.
const program = "gardener-extension-shoot-flux"

func main() { os.Exit(process.Execute(newCommand())) }

// settings are flags that are not part of the configuration in this form.
type settings struct {
	kubeconfig, garden, logLevel, logFormat string
	readProjects                            bool
	mirror                                  string
	checksums                               map[string]string
	heartbeatSeconds                        int
	gardenerVersion                         string
}

func newCommand() *cobra.Command {
	config := shootflux.Default()
	var given settings
	command := &cobra.Command{
		Use:   program,
		Short: "Bring Flux into the shoots of a seed",
		Long: `Run the Gardener extension of type shoot-flux until the process gets SIGTERM or
SIGINT: each shoot that enables it comes up with Flux, pointed at the repository of its
project or of its own configuration.`,
		Version: version.String(), Args: commandline.Arguments,
		SilenceUsage: true, SilenceErrors: true,
		RunE: func(command *cobra.Command, _ []string) error {
			if given.logLevel != "info" && given.logLevel != "debug" && given.logLevel != "error" {
				return fmt.Errorf("--log-level %q: use debug, info or error", given.logLevel)
			}
			log, err := process.NewLogger(given.logFormat, given.logLevel)
			if err != nil {
				return err
			}
			if err := given.complete(&config, command.Flags()); err != nil {
				return err
			}
			return shootflux.Run(command.Context(), config, log)
		},
	}
	flags := command.Flags()
	given.flags(flags)
	configFlags(flags, &config)
	commandline.RefuseNegative(command)
	return command
}

func (s *settings) flags(flags *pflag.FlagSet) {
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "kubeconfig of the seed (default: $KUBECONFIG, then ~/.kube/config, then the cluster that the program runs in)")
	flags.StringVar(&s.garden, "garden-kubeconfig", os.Getenv("GARDEN_KUBECONFIG"), "kubeconfig of the garden (default: $GARDEN_KUBECONFIG; without one, only what Shoots refer to is read)")
	flags.BoolVar(&s.readProjects, "project-configmap", true, "read the ConfigMap flux-config and the Secret flux-source of projects in the garden")
	flags.StringVar(&s.mirror, "flux-mirror", "", "where releases of Flux come from that are not part of the program: https://HOST/PATH/{version}/manifests.tar.gz or oci://HOST/REPOSITORY")
	flags.StringToStringVar(&s.checksums, "flux-mirror-checksum", nil, "VERSION=sha256:...; releases of the mirror that may be installed, may be repeated")
	flags.IntVar(&s.heartbeatSeconds, "heartbeat-renew-interval-seconds", 30, "how often the heartbeat is renewed")
	flags.StringVar(&s.logLevel, "log-level", "info", "debug, info or error")
	flags.StringVar(&s.logFormat, "log-format", "json", "text or json")
	flags.StringVar(&s.gardenerVersion, "gardener-version", "", "version of Gardener; it makes no difference, gardenlet's charts pass it")
}

func configFlags(flags *pflag.FlagSet, config *shootflux.Config) {
	flags.IntVar(&config.Workers, "extension-max-concurrent-reconciles", config.Workers, "shoots in work at the same time")
	flags.IntVar(&config.Workers, "lifecycle-max-concurrent-reconciles", config.Workers, "another name of --extension-max-concurrent-reconciles")
	flags.IntVar(&config.HealthWorkers, "healthcheck-max-concurrent-reconciles", config.HealthWorkers, "shoots whose health is looked at at the same time")
	flags.StringSliceVar(&config.Disabled, "disable-controllers", nil, "controllers that do not run: extension, healthcheck, heartbeat")
	flags.BoolVar(&config.IgnoreOperationAnnotation, "ignore-operation-annotation", false, "reconcile at every change of a spec, without being asked")
	flags.StringVar(&config.WithoutConfig, "default-without-config", config.WithoutConfig, "what to do with shoots without a configuration: install (Flux alone) or fail")
	flags.StringVar(&config.GardenIdentity, "garden-cluster-identity", config.GardenIdentity, "name of the garden, for the ConfigMap shoot-info of shoots")
	flags.StringVar(&config.GardenletSecret, "gardenlet-kubeconfig", "", "NAMESPACE/NAME of the Secret with gardenlet's kubeconfig, to reach the garden as the first implementation did; its rights are gardenlet's")
	flags.StringVar(&config.AllowedVersions, "allowed-flux-versions", "", "range of the releases of Flux that may be installed, as in >=2.3.0 (default: all)")
	flags.BoolVar(&config.ScanHostKeys, "allow-host-key-scan", config.ScanHostKeys, "ask Git servers for host keys that are not configured, and trust the first answer")
	flags.BoolVar(&config.Egress.AllowLoopback, "egress-allow-loopback", false, "let shoots, repositories and mirrors be on this machine; for tests and development")
	flags.DurationVar(&config.Resync, "resync-period", config.Resync, "how often a shoot is looked at without a reason")
	flags.DurationVar(&config.Spread, "change-spread", config.Spread, "time in which the shoots of a project follow a change of its configuration")
	flags.StringVar(&config.HeartbeatNamespace, "heartbeat-namespace", process.OwnNamespace(), "namespace of the heartbeat (default: the namespace that the program runs in)")
	flags.BoolVar(&config.LeaderElection, "leader-election", config.LeaderElection, "let only one of several replicas work")
	flags.StringVar(&config.LeaderElectionID, "leader-election-id", config.LeaderElectionID, "name of the lease")
	flags.StringVar(&config.LeaderElectionNamespace, "leader-election-namespace", os.Getenv("LEADER_ELECTION_NAMESPACE"), "namespace of the lease (default: $LEADER_ELECTION_NAMESPACE, then the namespace that the program runs in)")
	flags.StringVar(&config.MetricsAddress, "metrics-bind-address", config.MetricsAddress, "address for metrics; 0 switches them off")
	flags.StringVar(&config.HealthAddress, "health-bind-address", config.HealthAddress, "address for /healthz and /readyz; 0 switches them off")
	flags.DurationVar(&config.ShutdownTimeout, "shutdown-timeout", config.ShutdownTimeout, "time that running steps get to end")
}

// complete adds the settings that are read from files.
func (s *settings) complete(config *shootflux.Config, flags *pflag.FlagSet) error {
	var err error
	if config.Seed, err = process.RESTConfig(s.kubeconfig, program); err != nil {
		return err
	}
	config.HeartbeatInterval = time.Duration(s.heartbeatSeconds) * time.Second
	if config.ReadProjects = s.readProjects; s.garden != "" {
		if config.Garden, err = process.RESTConfig(s.garden, program); err != nil {
			return fmt.Errorf("the garden: %w", err)
		}
	} else if s.readProjects && flags.Changed("project-configmap") && config.GardenletSecret == "" {
		return fmt.Errorf("--project-configmap: the garden cannot be reached: set --garden-kubeconfig or $GARDEN_KUBECONFIG")
	}
	if s.mirror != "" {
		config.Mirror = &install.Mirror{Address: s.mirror, Checksums: s.checksums, Shared: component.NewSharedWith(config.Egress)}
	} else if len(s.checksums) > 0 {
		return fmt.Errorf("--flux-mirror-checksum: name the mirror with --flux-mirror")
	}
	return nil
}
