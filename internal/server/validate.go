package server

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/content/template/clusterfunc"
	"go.landscaper.dev/internal/server/feature"
)

// Validate checks the flags and the file together, and returns all problems.
func (c *Config) Validate() error {
	checks := []error{
		c.validateControllers(), c.validateNamespaces(), c.validateRegistries(), c.validateAddresses(), c.validateTimes(), c.validateReports(), c.Console.validate(), c.Channels.validate(), c.validateFeatures(),
	}
	for _, name := range c.DisabledFunctions {
		if !slices.Contains(clusterfunc.Names(), name) {
			checks = append(checks, fmt.Errorf("disabledTemplateFunctions: there is no function %q: choose from %s", name, strings.Join(clusterfunc.Names(), ", ")))
		}
	}
	if err := c.Egress.Validate(); err != nil {
		checks = append(checks, fmt.Errorf("egress: %w", err))
	}
	if !c.Deployers.ReadinessMode.Known() {
		checks = append(checks, fmt.Errorf("deployers.readinessMode is %q: choose from legacy, kstatus", c.Deployers.ReadinessMode))
	}
	if !c.Verification.Known() {
		checks = append(checks, fmt.Errorf("signatureVerificationEnforcementPolicy is %q: choose from DoNotEnforce, Enforce, Disabled", c.Verification))
	}
	return errors.Join(checks...)
}

// validateControllers checks the controllers and their numbers of workers.
func (c *Config) validateControllers() error {
	if len(c.Controllers) == 0 {
		return fmt.Errorf("no controller is chosen: choose from %s", strings.Join(Controllers(), ", "))
	}
	var errs []error
	for _, name := range c.Controllers {
		errs = append(errs, known(name))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Workers)) {
		if err := known(name); err != nil {
			errs = append(errs, fmt.Errorf("workers: %w", err))
		} else if count := c.Workers[name]; count < 1 || count > mostWorkers {
			errs = append(errs, fmt.Errorf("workers of %s: %d: write a number from 1 to %d, or leave the controller out of --controllers if it is not to work", name, count, mostWorkers))
		}
	}
	return errors.Join(errs...)
}

// known returns an error for the name of an unknown controller.
func known(name string) error {
	if name == Mocks || slices.Contains(Controllers(), name) {
		return nil
	}
	return fmt.Errorf("there is no controller %q: choose from %s%s", name, strings.Join(Controllers(), ", "), suggest.DidYouMean(name, Controllers()))
}

// validateNamespaces checks all names of namespaces: an invalid name would silently not match
// the intended namespace.
func (c *Config) validateNamespaces() error {
	sources := slices.Sorted(maps.Keys(c.SourceNamespaces))
	lists := []struct {
		field string
		names []string
	}{
		{"namespaces", c.Namespaces},
		{"controllers.contexts.config.default.excludedNamespaces", c.ExcludedNamespaces},
		{"deployers.protectedNamespaces", c.Deployers.ProtectedNamespaces},
		{"importNamespaces[].from", sources},
		{"lsDeployments.deploymentsNamespace", given(c.HealthCheck.Namespace)},
		{"--namespace", given(c.Namespace)},
		{"--leader-election-namespace", given(c.LeaderElectionNamespace)},
	}
	var errs []error
	for _, from := range sources {
		lists = append(lists, struct {
			field string
			names []string
		}{"importNamespaces[].to", c.SourceNamespaces[from]})
		if len(c.SourceNamespaces[from]) == 0 {
			errs = append(errs, fmt.Errorf("importNamespaces: to is missing where from is %q: name the namespaces that may import from it", from))
		}
	}
	for _, list := range lists {
		for _, name := range list.names {
			if problems := utilvalidation.IsDNS1123Label(name); len(problems) > 0 {
				errs = append(errs, fmt.Errorf("%s: %q is not the name of a namespace: %s", list.field, name, problems[0]))
			}
		}
	}
	return errors.Join(errs...)
}

// given returns a list with the text, or an empty list.
func given(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// validateRegistries checks names of hosts and the default repository. A host that is written as a
// URL would never match.
func (c *Config) validateRegistries() error {
	oci := c.Registry.OCI
	hosts := map[string][]string{
		"registry.oci.plainHttpCredentials": oci.PlainHTTPCredentials,
		"registry.oci.redirects.hosts":      oci.Redirects.Hosts,
		"registry.oci.tokenHosts":           slices.Sorted(maps.Keys(oci.TokenHosts)),
	}
	for registry, list := range oci.TokenHosts {
		hosts["registry.oci.tokenHosts."+registry] = list
	}
	var errs []error
	for _, field := range slices.Sorted(maps.Keys(hosts)) {
		for _, host := range hosts[field] {
			if host == "" || strings.ContainsAny(host, "/@ *") {
				errs = append(errs, fmt.Errorf("%s: %q is no host: write it like registry.example.org or registry.example.org:5000", field, repository.Redact(host)))
			}
		}
	}
	if object := component.Context(c.RepositoryContext); object != nil {
		if _, err := repository.ParseSpec(object); err != nil {
			errs = append(errs, fmt.Errorf("repositoryContext: %w", err))
		}
	}
	return errors.Join(errs...)
}

// validateAddresses checks the addresses on which the process listens.
func (c *Config) validateAddresses() error {
	var errs []error
	for _, address := range []struct{ flag, value string }{{"--metrics-address", c.MetricsAddress}, {"--health-address", c.HealthAddress}, {"--console-address", cmp.Or(c.Console.Address, "0")}, {"--webhook-address", cmp.Or(c.Channels.Webhook.Address, "0")}} {
		if address.value == "0" {
			continue
		}
		_, port, err := net.SplitHostPort(address.value)
		if _, failed := strconv.ParseUint(port, 10, 16); err != nil || failed != nil {
			errs = append(errs, fmt.Errorf("%s %q: write an address and a port up to 65535, such as :8080, or 0 for none", address.flag, address.value))
		}
	}
	return errors.Join(errs...)
}

// validateTimes checks the times of flags.
func (c *Config) validateTimes() error {
	var errs []error
	if c.UnreadyAfter <= 0 {
		errs = append(errs, fmt.Errorf("--unready-after is %s: write a time above 0, such as 30s", c.UnreadyAfter))
	}
	for _, limit := range []struct {
		flag  string
		value time.Duration
	}{{"--shutdown-timeout", c.ShutdownTimeout}, {"--pickup-timeout", c.PickupTimeout}} {
		if limit.value < 0 {
			errs = append(errs, fmt.Errorf("%s is %s: write a time that is not below 0, such as 30s", limit.flag, limit.value))
		}
	}
	return errors.Join(errs...)
}

// validateReports checks the settings of reports about the process.
func (c *Config) validateReports() error {
	var errs []error
	if endpoint, err := url.Parse(c.TraceEndpoint); c.TraceEndpoint != "" && (err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https") {
		errs = append(errs, errors.New("--trace-endpoint is not a URL of a collector: it should look like https://collector.example.org:4318"))
	}
	if c.HealthCheck.Name != "" && c.HealthCheck.Namespace == "" {
		errs = append(errs, errors.New("lsDeployments.lsHealthCheckName is set: set deploymentsNamespace as well, where the LsHealthCheck is to be"))
	}
	if problems := utilvalidation.IsDNS1123Subdomain(c.HealthCheck.Name); c.HealthCheck.Name != "" && len(problems) > 0 {
		errs = append(errs, fmt.Errorf("lsDeployments.lsHealthCheckName: %q is not the name of an object: %s", c.HealthCheck.Name, problems[0]))
	}
	return errors.Join(errs...)
}

// validateFeatures refuses the configuration of what is switched off. Without that, an operator would
// learn only from its absence that a feature may still change.
func (c *Config) validateFeatures() error {
	if c.Console.Enabled() && !c.Features.Enabled(feature.ServerConsole) {
		return fmt.Errorf("console.address is set, and the console in the server is an alpha feature, which is off: switch it on with --feature-gates=%s=true, or with featureGates in the configuration", feature.ServerConsole)
	}
	if c.Channels.Enabled() && !c.Features.Enabled(feature.Fleets) {
		return fmt.Errorf("channels.webhook.address is set, and Channels are an alpha feature, which is off: switch it on with --feature-gates=%s=true, or with featureGates in the configuration", feature.Fleets)
	}
	return nil
}
