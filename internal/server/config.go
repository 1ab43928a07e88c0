package server

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/controller/installation"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/validation"
	"go.landscaper.dev/internal/server/feature"
	"go.landscaper.dev/internal/telemetry/metrics"
)

// The controllers that a process can run.
const (
	// Installations drives Installations.
	Installations = "installation"
	// Executions drives Executions.
	Executions = "execution"
	// Contexts keeps the default Contexts.
	Contexts = "context"
	// TargetSyncs makes Targets from shoots or Secrets of other clusters.
	TargetSyncs = "targetsync"
	// Manifests is the manifest deployer.
	Manifests = "manifest"
	// Charts is the deployer for Helm charts.
	Charts = "helm"
	// Kustomizations is the deployer for kustomizations.
	Kustomizations = "kustomize"
	// Mocks is the mock deployer, for tests and demos. It runs only where it is chosen.
	Mocks = "mock"
)

// Controllers lists the controllers that a process can run.
func Controllers() []string {
	return []string{Installations, Executions, Contexts, TargetSyncs, Manifests, Charts, Kustomizations}
}

// Config is the configuration of a process.
type Config struct {
	// Cluster is the connection to the resource cluster.
	Cluster *rest.Config
	// Controllers are the controllers to run.
	Controllers []string
	// Workers is the number of objects of a kind that are reconciled at the same time.
	Workers map[string]int
	// Namespaces are those that the process works in and reads; empty means all.
	Namespaces []string
	// MetricsAddress serves metrics; "0" switches them off.
	MetricsAddress string
	// OpenMetrics serves metrics without TLS to every client that reaches the address.
	OpenMetrics bool
	// UnreadyAfter is how long a watch may fail until the process is not ready.
	UnreadyAfter time.Duration
	// HealthAddress serves health and readiness; "0" switches them off.
	HealthAddress string
	// TraceEndpoint is the URL that traces are sent to; empty switches them off.
	TraceEndpoint string
	// AddTraces sends traces of jobs there. This package does not know how: what sends them would make
	// each program that embeds the controllers much larger.
	AddTraces func(ctx context.Context, to manager.Manager, endpoint string, jobs *metrics.Jobs) error
	// HealthCheck is the LsHealthCheck that reports the health of the process; an empty name
	// switches it off.
	HealthCheck types.NamespacedName
	// LeaderElection lets only one of several replicas work.
	LeaderElection bool
	// LeaderElectionNamespace has the Lease of the leader election.
	LeaderElectionNamespace string
	// Namespace is the namespace that the process runs in, where it records its own
	// failures; empty outside a cluster.
	Namespace string
	// ShutdownTimeout is the time that running steps get to end.
	ShutdownTimeout time.Duration
	// PickupTimeout limits the time until a deployer picks up an item; 0 means no limit.
	PickupTimeout time.Duration
	// SourceNamespaces are the administrator's permissions for imports.
	SourceNamespaces validation.SourceNamespaces
	// ExcludedNamespaces get no default Context.
	ExcludedNamespaces []string
	// RepositoryContext is the repository of the default Contexts.
	RepositoryContext *v1alpha1.UnstructuredTypedObject
	// Registry is the access to registries.
	Registry RegistryConfig
	// Verification says which signatures are checked.
	Verification installation.VerificationPolicy
	// Signatures has the keys.
	Signatures SignatureConfig
	// Egress says which addresses the objects of users may lead to.
	Egress egress.Policy
	// Triggers start jobs in addition to the requests of users.
	Triggers predicates.Triggers
	// NamedTargets lets blueprints use any Target and Secret of the namespace by its name.
	NamedTargets bool
	// DisabledFunctions are functions that templates cannot call.
	DisabledFunctions []string
	// Renderer is the command that starts a process for foreign work: templates, charts and
	// kustomizations. Without it, the work is done in this process.
	Renderer []string
	// Deployers are the rules for all items of the deployers in this process.
	Deployers DeployersConfig
	// AttemptNotes is the directory in which attempts are noted before they begin; empty switches
	// that off. Each process has its own.
	AttemptNotes string
	// Console is what browsers get.
	Console ConsoleConfig
	// Channels is what Channels get besides their own specification.
	Channels ChannelsConfig
	// AddConsole adds the console, which this package does not know.
	AddConsole func(context.Context, ConsoleHost) error
	// Features says which features are on.
	Features featuregate.MutableVersionedFeatureGate
	// Embedded is how the controllers run within another program; nil for a server.
	Embedded *Embedding
	// MemoryLimit is how many bytes the heap may have: near it, the largest work is ended. 0 is no
	// limit.
	MemoryLimit int64
}

// DeployersConfig are rules for all items.
type DeployersConfig struct {
	// ReadinessMode is the mode of the default readiness check of items that name none.
	ReadinessMode apideployer.ReadinessMode `json:"readinessMode"`
	// ProtectedNamespaces are namespaces of target clusters that no deletion group may
	// empty.
	ProtectedNamespaces []string `json:"protectedNamespaces"`
}

// Default returns a configuration that works.
//
// Controllers that mostly wait for clusters have many workers; controllers that use the CPU, as for
// rendering, have few.
func Default() Config {
	return Config{
		Controllers:     Controllers(),
		Workers:         map[string]int{Installations: 8, Executions: 16, Contexts: 2, TargetSyncs: 2, Manifests: 32, Charts: 16, Kustomizations: 8},
		MetricsAddress:  "127.0.0.1:8080",
		HealthAddress:   "127.0.0.1:8081",
		UnreadyAfter:    30 * time.Second,
		ShutdownTimeout: 30 * time.Second,
		PickupTimeout:   5 * time.Minute,
		Verification:    installation.VerifyIfAsked,
		Features:        feature.Gates(),
	}
}

func (c *Config) runs(name string) bool { return slices.Contains(c.Controllers, name) }

func (c *Config) disabledFunctions() map[string]bool {
	disabled := make(map[string]bool, len(c.DisabledFunctions))
	for _, name := range c.DisabledFunctions {
		disabled[name] = true
	}
	return disabled
}

// kinds are those that the controllers require.
func (c *Config) kinds() []string {
	var kinds []string
	for name, kind := range map[string]string{Installations: "Installation", Executions: "Execution", Contexts: "Context", TargetSyncs: "TargetSync", Manifests: "DeployItem", Charts: "DeployItem", Kustomizations: "DeployItem", Mocks: "DeployItem"} {
		if c.runs(name) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// cachedNamespaces are the namespaces of all watches, or nil for all namespaces.
func (c *Config) cachedNamespaces() map[string]cache.Config {
	if len(c.Namespaces) == 0 {
		return nil
	}
	namespaces := make(map[string]cache.Config, len(c.Namespaces))
	for _, name := range c.Namespaces {
		namespaces[name] = cache.Config{}
	}
	return namespaces
}
