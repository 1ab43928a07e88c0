package server

import (
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/yaml"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/egress"
	"go.landscaper.dev/internal/installation"
	"go.landscaper.dev/internal/installation/facts"
	"go.landscaper.dev/internal/render/clusterfunc"
	"go.landscaper.dev/internal/validation"
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

// Config says what a process runs and how.
type Config struct {
	// Cluster is the connection to the resource cluster.
	Cluster *rest.Config
	// Controllers are the controllers to run.
	Controllers []string
	// Workers is the number of objects of a kind in work at the same time.
	Workers map[string]int
	// Namespaces are those that the process works in and reads; without any, it is all.
	Namespaces []string
	// MetricsAddress serves metrics; "0" switches them off.
	MetricsAddress string
	// OpenMetrics serves metrics without TLS to everybody who reaches the address.
	OpenMetrics bool
	// UnreadyAfter is how long a watch may fail until the process is not ready.
	UnreadyAfter time.Duration
	// HealthAddress serves health and readiness; "0" switches them off.
	HealthAddress string
	// TraceEndpoint is the URL that traces are sent to; without it, there are none.
	TraceEndpoint string
	// HealthCheck is the LsHealthCheck that tells how the process fares; without a name,
	// none does.
	HealthCheck types.NamespacedName
	// LeaderElection lets only one of several replicas work.
	LeaderElection bool
	// LeaderElectionNamespace is where the replicas agree on the leader.
	LeaderElectionNamespace string
	// Namespace is the namespace that the process runs in, where it records its own
	// failures; empty outside a cluster.
	Namespace string
	// ShutdownTimeout is the time that running steps get to end.
	ShutdownTimeout time.Duration
	// PickupTimeout limits the time until a deployer takes an item up; 0 means no
	// limit.
	PickupTimeout time.Duration
	// SourceNamespaces are the administrator's permissions for imports.
	SourceNamespaces validation.SourceNamespaces
	// ExcludedNamespaces get no default Context.
	ExcludedNamespaces []string
	// RepositoryContext is the repository of the default Contexts.
	RepositoryContext *v1alpha1.UnstructuredTypedObject
	// Registry says how registries are reached.
	Registry RegistryConfig
	// Verification says whose signatures are checked.
	Verification installation.VerificationPolicy
	// Signatures says with whose keys.
	Signatures SignatureConfig
	// Egress says where what users write may lead to.
	Egress egress.Policy
	// Triggers are what starts jobs beyond what users ask for.
	Triggers facts.Triggers
	// DisabledFunctions are functions that templates cannot call.
	DisabledFunctions []string
	// Deployers are the rules for all items of the deployers in this process.
	Deployers DeployersConfig
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
// Those who mostly wait for clusters have many workers; those who work themselves, as with
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
	}
}

// file is the configuration as the published kind LandscaperConfiguration has it.
type file struct {
	APIVersion        string                            `json:"apiVersion"`
	Kind              string                            `json:"kind"`
	RepositoryContext *v1alpha1.UnstructuredTypedObject `json:"repositoryContext"`
	Controllers       struct {
		Installations workersConfig `json:"installations"`
		Executions    workersConfig `json:"executions"`
		DeployItems   workersConfig `json:"deployItems"`
		Contexts      contextsFile  `json:"contexts"`
		// Context is how published examples spell contexts.
		Context contextsFile `json:"context"`
	} `json:"controllers"`
	Metrics *struct {
		Port int32 `json:"port"`
		// Open serves metrics without TLS and without asking who the client is.
		Open bool `json:"open"`
	} `json:"metrics"`
	// Deployments is about the Deployments of the public system; of it, the object that
	// tells of their health has a meaning here.
	Deployments struct {
		Namespace   string `json:"deploymentsNamespace"`
		HealthCheck string `json:"lsHealthCheckName"`
	} `json:"lsDeployments"`
	// Namespaces confine the process.
	Namespaces         []string `json:"namespaces"`
	DeployItemTimeouts struct {
		Pickup *v1alpha1.Duration `json:"pickup"`
	} `json:"deployItemTimeouts"`
	Registry     RegistryConfig                  `json:"registry"`
	Verification installation.VerificationPolicy `json:"signatureVerificationEnforcementPolicy"`
	Signatures   SignatureConfig                 `json:"signatureVerification"`
	Egress       egress.Policy                   `json:"egress"`
	Reconcile    struct {
		OnSpecChange   bool `json:"onSpecChange"`
		OnImportChange bool `json:"onImportChange"`
	} `json:"reconcile"`
	// DisabledTemplateFunctions are functions with access to clusters that are
	// switched off.
	DisabledTemplateFunctions []string `json:"disabledTemplateFunctions"`
	// Deployers are the rules for all items of the deployers.
	Deployers DeployersConfig `json:"deployers"`
	// ImportNamespaces permits imports from other namespaces.
	ImportNamespaces []struct {
		From string   `json:"from"`
		To   []string `json:"to"`
	} `json:"importNamespaces"`
}

type workersConfig struct {
	Workers int `json:"workers"`
}

type contextsFile struct {
	workersConfig
	Config struct {
		Default struct {
			Disable            bool                              `json:"disable"`
			ExcludedNamespaces []string                          `json:"excludedNamespaces"`
			ExcludeNamespaces  []string                          `json:"excludeNamespaces"`
			RepositoryContext  *v1alpha1.UnstructuredTypedObject `json:"repositoryContext"`
		} `json:"default"`
	} `json:"config"`
}

// Load changes a configuration by a file of the published kind
// LandscaperConfiguration. It returns warnings about keys that have no effect.
//
// An unknown key is a warning and no error: files of the public system have keys that have
// no meaning here.
func (c *Config) Load(path string) ([]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	var read file
	var warnings []string
	if err := yaml.UnmarshalStrict(content, &read); err != nil {
		warnings = append(warnings, "a key has no effect: "+err.Error())
		read = file{}
		if err := yaml.Unmarshal(content, &read); err != nil {
			return nil, fmt.Errorf("decode configuration %s: %w", path, err)
		}
	}
	if read.Kind != "" && read.Kind != "LandscaperConfiguration" {
		return nil, fmt.Errorf("configuration %s is of kind %s, not LandscaperConfiguration", path, read.Kind)
	}
	if pickup := read.DeployItemTimeouts.Pickup; pickup != nil {
		if c.PickupTimeout, err = pickup.Parsed(); err != nil {
			return nil, fmt.Errorf("configuration %s: deployItemTimeouts.pickup: %w", path, err)
		}
	}
	c.apply(&read)
	return warnings, nil
}

func (c *Config) apply(read *file) {
	for name, workers := range map[string]int{
		Installations: read.Controllers.Installations.Workers,
		Executions:    read.Controllers.Executions.Workers,
		Manifests:     read.Controllers.DeployItems.Workers,
		Charts:        read.Controllers.DeployItems.Workers,
		// Loading and building takes memory.
		Kustomizations: min(read.Controllers.DeployItems.Workers, 8),
		Contexts:       max(read.Controllers.Contexts.Workers, read.Controllers.Context.Workers),
	} {
		if workers > 0 {
			c.Workers[name] = workers
		}
	}
	c.RepositoryContext, c.Registry = read.RepositoryContext, read.Registry
	c.DisabledFunctions, c.Signatures, c.Egress = read.DisabledTemplateFunctions, read.Signatures, read.Egress
	c.Deployers = read.Deployers
	c.Triggers = facts.Triggers(read.Reconcile)
	if read.Verification != "" {
		c.Verification = read.Verification
	}
	for _, contexts := range []contextsFile{read.Controllers.Contexts, read.Controllers.Context} {
		settings := contexts.Config.Default
		c.ExcludedNamespaces = append(c.ExcludedNamespaces, slices.Concat(settings.ExcludedNamespaces, settings.ExcludeNamespaces)...)
		if settings.RepositoryContext != nil {
			c.RepositoryContext = settings.RepositoryContext
		}
		if settings.Disable {
			c.Controllers = slices.DeleteFunc(slices.Clone(c.Controllers), func(name string) bool { return name == Contexts })
		}
	}
	if read.Metrics != nil {
		if read.Metrics.Port != 0 {
			c.MetricsAddress = fmt.Sprintf(":%d", read.Metrics.Port)
		}
		c.OpenMetrics = read.Metrics.Open
	}
	if len(read.Namespaces) > 0 {
		c.Namespaces = read.Namespaces
	}
	if read.Deployments.HealthCheck != "" {
		c.HealthCheck = types.NamespacedName{Namespace: read.Deployments.Namespace, Name: read.Deployments.HealthCheck}
	}
	for _, permission := range read.ImportNamespaces {
		if c.SourceNamespaces == nil {
			c.SourceNamespaces = validation.SourceNamespaces{}
		}
		c.SourceNamespaces[permission.From] = append(c.SourceNamespaces[permission.From], permission.To...)
	}
}

// Validate checks what the flags and the file say together.
func (c *Config) Validate() error {
	if len(c.Controllers) == 0 {
		return fmt.Errorf("no controller is chosen: choose from %s", strings.Join(Controllers(), ", "))
	}
	for _, name := range c.Controllers {
		if err := known(name); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Workers)) {
		if err := known(name); err != nil {
			return fmt.Errorf("workers: %w", err)
		}
		if count := c.Workers[name]; count < 1 {
			return fmt.Errorf("workers of %s: %d are none: leave the controller out of --controllers if it is not to work", name, count)
		}
	}
	for _, name := range c.Namespaces {
		if problems := utilvalidation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Errorf("namespaces: %q is not the name of a namespace: %s", name, problems[0])
		}
	}
	for _, name := range c.DisabledFunctions {
		if !slices.Contains(clusterfunc.Names(), name) {
			return fmt.Errorf("disabledTemplateFunctions: there is no function %q: choose from %s", name, strings.Join(clusterfunc.Names(), ", "))
		}
	}
	if err := c.Egress.Validate(); err != nil {
		return fmt.Errorf("egress: %w", err)
	}
	if !c.Deployers.ReadinessMode.Known() {
		return fmt.Errorf("deployers.readinessMode is %q: choose from legacy, kstatus", c.Deployers.ReadinessMode)
	}
	if !c.Verification.Known() {
		return fmt.Errorf("signatureVerificationEnforcementPolicy is %q: choose from DoNotEnforce, Enforce, Disabled", c.Verification)
	}
	return c.validateTelling()
}

// known refuses the name of a controller that there is not.
func known(name string) error {
	if name == Mocks || slices.Contains(Controllers(), name) {
		return nil
	}
	return fmt.Errorf("there is no controller %q: choose from %s", name, strings.Join(Controllers(), ", "))
}

// validateTelling checks where the process tells how it fares.
func (c *Config) validateTelling() error {
	if endpoint, err := url.Parse(c.TraceEndpoint); c.TraceEndpoint != "" && (err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https") {
		return fmt.Errorf("--trace-endpoint is no URL of a collector: it should look like https://collector.example.org:4318")
	}
	if c.HealthCheck.Name != "" && c.HealthCheck.Namespace == "" {
		return fmt.Errorf("lsDeployments.lsHealthCheckName is set: set deploymentsNamespace as well, where the LsHealthCheck is to be")
	}
	return nil
}

func (c *Config) runs(name string) bool { return slices.Contains(c.Controllers, name) }

func (c *Config) disabledFunctions() map[string]bool {
	disabled := make(map[string]bool, len(c.DisabledFunctions))
	for _, name := range c.DisabledFunctions {
		disabled[name] = true
	}
	return disabled
}

// kinds are those that the controllers cannot do without.
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

// cachedNamespaces are those that watches are limited to, or nil for all.
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
