package shootflux

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"k8s.io/client-go/rest"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/controller/shootflux/install"
)

// The controllers.
const (
	Extension   = "extension"
	HealthCheck = "healthcheck"
	Heartbeat   = "heartbeat"
)

// Controllers are all of them.
func Controllers() []string { return []string{Extension, HealthCheck, Heartbeat} }

// What to do with shoots without a configuration.
const (
	InstallWithoutConfig = "install"
	FailWithoutConfig    = "fail"
)

// Config is the configuration of the extension.
type Config struct {
	// Seed is the cluster with the Extensions, Garden the one with the projects; nil
	// without access to it.
	Seed, Garden *rest.Config
	// ReadProjects lets configurations and credentials be read in the garden.
	ReadProjects bool
	// GardenletSecret is the Secret NAMESPACE/NAME of the seed with the kubeconfig of gardenlet,
	// which is the fallback for access to the garden.
	GardenletSecret string

	Disabled                  []string
	Workers, HealthWorkers    int
	IgnoreOperationAnnotation bool
	WithoutConfig             string
	GardenIdentity            string
	AllowedVersions           string
	Mirror                    *install.Mirror
	ScanHostKeys              bool
	Egress                    egress.Policy
	Resync, Spread            time.Duration

	HeartbeatNamespace string
	HeartbeatInterval  time.Duration

	LeaderElection                            bool
	LeaderElectionID, LeaderElectionNamespace string
	MetricsAddress, HealthAddress             string
	ShutdownTimeout                           time.Duration
}

// Default returns the configuration for a usual seed.
func Default() Config {
	return Config{
		Workers: 5, HealthWorkers: 5, WithoutConfig: InstallWithoutConfig, GardenIdentity: "garden", ScanHostKeys: true,
		Resync: time.Hour, Spread: 5 * time.Minute, HeartbeatInterval: 30 * time.Second,
		LeaderElection: true, LeaderElectionID: "shoot-flux-leader-election",
		MetricsAddress: ":8080", HealthAddress: ":8081", ShutdownTimeout: 30 * time.Second,
	}
}

func (c *Config) runs(controller string) bool { return !slices.Contains(c.Disabled, controller) }

// Validate returns all problems.
func (c *Config) Validate() error {
	var errs []error
	for _, name := range c.Disabled {
		if !slices.Contains(Controllers(), name) {
			errs = append(errs, fmt.Errorf("--disable-controllers %q: there is no such controller; choose from %s", name, strings.Join(Controllers(), ", ")))
		}
	}
	if c.Workers < 1 || c.HealthWorkers < 1 {
		errs = append(errs, errors.New("--extension-max-concurrent-reconciles and --healthcheck-max-concurrent-reconciles must be at least 1"))
	}
	if c.WithoutConfig != InstallWithoutConfig && c.WithoutConfig != FailWithoutConfig {
		errs = append(errs, fmt.Errorf("--default-without-config %q: use %s or %s", c.WithoutConfig, InstallWithoutConfig, FailWithoutConfig))
	}
	if _, err := c.allowed(); err != nil {
		errs = append(errs, err)
	}
	if c.Resync <= 0 || c.Spread < 0 || c.HeartbeatInterval <= 0 {
		errs = append(errs, errors.New("--resync-period and --heartbeat-renew-interval-seconds must be above 0, and --change-spread not below"))
	}
	if c.runs(Heartbeat) && c.HeartbeatNamespace == "" {
		errs = append(errs, errors.New("--heartbeat-namespace: name the namespace for the heartbeat, or use --disable-controllers heartbeat"))
	}
	if c.GardenletSecret != "" && !isKey(c.GardenletSecret) {
		errs = append(errs, fmt.Errorf("--gardenlet-kubeconfig %q: write NAMESPACE/NAME of a Secret of the seed", c.GardenletSecret))
	}
	return errors.Join(errs...)
}

// isKey reports whether a text names an object as NAMESPACE/NAME.
func isKey(text string) bool {
	namespace, name, _ := strings.Cut(text, "/")
	return namespace != "" && name != "" && !strings.Contains(name, "/")
}

// allowed are the releases of Flux that may be installed; nil for all.
func (c *Config) allowed() (*semver.Constraints, error) {
	if c.AllowedVersions == "" {
		return nil, nil
	}
	allowed, err := semver.NewConstraint(c.AllowedVersions)
	if err != nil {
		return nil, fmt.Errorf("--allowed-flux-versions %q: write a range like >=2.3.0 <3: %w", c.AllowedVersions, err)
	}
	return allowed, nil
}
