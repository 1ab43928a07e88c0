package helm

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"helm.sh/helm/v4/pkg/chart/v2/util"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"

	apideployer "go.landscaper.dev/api/deployer"
	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/deploy/export"
	"go.landscaper.dev/internal/deploy/ignored"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/deploy/several"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	initOperation = published.InitHelmOperation
)

// config is the configuration of an item.
type config struct {
	*helmv1alpha1.ProviderConfiguration
	install, upgrade, uninstall deployOptions
	values                      map[string]any
}

// release reports whether the item wants a release of Helm.
func (c *config) release() bool { return c.HelmDeployment == nil || *c.HelmDeployment }

// allExports are the values to export, the old list after the new one.
func (c *config) allExports() []apideployer.Export {
	var all []apideployer.Export
	if c.Exports != nil {
		all = append(all, c.Exports.Exports...)
	}
	return append(all, c.ExportsFromManifests...)
}

// fromResources are the values that objects have.
func (c *config) fromResources() []apideployer.Export {
	return slices.DeleteFunc(c.allExports(), func(entry apideployer.Export) bool { return entry.FromResource == nil })
}

// fromValues are those that the values of the chart have.
func (c *config) fromValues() []apideployer.Export {
	return slices.DeleteFunc(c.allExports(), func(entry apideployer.Export) bool { return entry.FromResource != nil })
}

// resourceExports is the configuration of the values that objects have.
func (c *config) resourceExports() *apideployer.Exports {
	exports := &apideployer.Exports{Exports: c.fromResources()}
	if c.Exports != nil {
		exports.DefaultTimeout, exports.Watch = c.Exports.DefaultTimeout, c.Exports.Watch
	}
	return exports
}

// settings is the part of the configuration that all deployers have.
func (c *config) settings() rollout.Settings {
	return rollout.Settings{
		UpdateStrategy: c.UpdateStrategy, ReadinessChecks: c.ReadinessChecks,
		Exports: c.resourceExports(), ContinuousReconcile: c.ContinuousReconcile,
		DeletionGroups: c.DeletionGroups, DeletionGroupsDuringUpdate: c.DeletionGroupsDuringUpdate,
	}
}

// deployOptions are the options of Helm for one kind of operation.
type deployOptions struct {
	Atomic               bool               `json:"atomic"`
	Force                bool               `json:"force"`
	SkipSchemaValidation bool               `json:"skipSchemaValidation"`
	TakeOwnership        bool               `json:"takeOwnership"`
	Wait                 bool               `json:"wait"`
	Always               bool               `json:"always"`
	Timeout              *v1alpha1.Duration `json:"timeout"`
}

// limit is how long an operation may take if the job has some time left.
func (o deployOptions) limit(remaining time.Duration) (time.Duration, error) {
	if o.Atomic && remaining > 0 {
		// Undoing a failure needs time, too.
		remaining -= remaining / 4
	}
	if o.Timeout == nil {
		return remaining, nil
	}
	own, err := o.Timeout.Parsed()
	if err != nil {
		return 0, err
	}
	if own > 0 && (remaining == 0 || own < remaining) {
		return own, nil
	}
	return remaining, nil
}

var (
	installKeys   = []string{"atomic", "force", "skipSchemaValidation", "takeOwnership", "wait", "timeout"}
	upgradeKeys   = append(slices.Clone(installKeys), "always")
	uninstallKeys = []string{"wait", "timeout"}
)

// optionsOf reads the options of one kind of operation.
func optionsOf(field string, given map[string]v1alpha1.AnyJSON, allowed []string) (options deployOptions, err error) {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(allowed, key) {
			unknown := yamltext.UnknownField{Path: ignored.Name(key), Meant: suggest.Name(key, allowed)}
			return options, fmt.Errorf("helmDeploymentConfig.%s has an option that does not exist: %s%s (there are %s)", field, unknown.Path, unknown.Question(), strings.Join(allowed, ", "))
		}
		raw, err := json.Marshal(map[string]json.RawMessage{key: given[key].RawMessage})
		if err != nil || json.Unmarshal(raw, &options) != nil {
			return options, fmt.Errorf("helmDeploymentConfig.%s.%s has the wrong type: timeout is a duration such as 5m, all others are true or false", field, key)
		}
	}
	if options.Timeout != nil {
		if _, err := options.Timeout.Parsed(); err != nil {
			return options, fmt.Errorf("helmDeploymentConfig.%s.timeout: %w", field, err)
		}
	}
	return options, nil
}

// parseConfig reads the configuration of an item.
func parseConfig(raw *runtime.RawExtension) (*config, error) {
	if raw == nil {
		return nil, configError(reasons.ParseProviderConfiguration, errors.New("it is missing"))
	}
	parsed := &helmv1alpha1.ProviderConfiguration{}
	if err := yamltext.Explain(json.Unmarshal(raw.Raw, parsed)); err != nil {
		return nil, configError(reasons.ParseProviderConfiguration, err)
	}
	if parsed.Kind != "ProviderConfiguration" || parsed.APIVersion != helmv1alpha1.GroupVersion.String() {
		return nil, configError(reasons.ParseProviderConfiguration, fmt.Errorf("apiVersion must be %s and kind ProviderConfiguration", helmv1alpha1.GroupVersion))
	}
	c := &config{ProviderConfiguration: parsed, values: map[string]any{}}
	if given := parsed.Values.RawMessage; len(given) > 0 && string(given) != "null" {
		values, err := jsonvalue.FromJSON(given)
		content, isMap := values.(map[string]any)
		if err != nil || !isMap {
			return nil, configError(reasons.ParseHelmValues, errors.New("values must be a map"))
		}
		c.values = content
	}
	return c, nil
}

func configError(reason reasons.Reason, err error) error {
	if err == nil {
		return nil
	}
	return job.Wrap(err, initOperation, reason, "spec.config", v1alpha1.ErrorConfigurationProblem)
}

// config reads and checks the configuration of an item.
func (o Options) config(item *deployer.Item) (*config, error) {
	c, err := parseConfig(item.Spec.Configuration)
	if err != nil {
		return nil, err
	}
	return c, configError(reasons.ValidateProviderConfiguration, o.validate(c))
}

// validate checks what can be checked without a cluster and without the chart.
func (o Options) validate(c *config) error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if err := util.ValidateReleaseName(c.Name); err != nil {
		problem("name must be the name of a release: lower case letters, digits, - and ., at most 53 characters")
	}
	if len(utilvalidation.IsDNS1123Label(c.Namespace)) > 0 {
		problem("namespace must be the name of a namespace")
	}
	if _, err := c.settings().DesiredState(o.Options); err != nil {
		problem("%w", err)
	}
	if _, err := c.settings().Groups(o.Options); err != nil {
		problem("%w", err)
	}
	for _, entry := range c.fromValues() {
		if err := export.CheckGiven(entry); err != nil {
			problem("exports: %w", err)
		}
	}
	problems = append(problems, c.readOptions()...)
	return several.Errors(problems).OrNil()
}

// readOptions reads the options of Helm.
func (c *config) readOptions() []error {
	given := c.HelmDeploymentConfig
	if given == nil {
		return nil
	}
	var problems []error
	for _, part := range []struct {
		field   string
		given   map[string]v1alpha1.AnyJSON
		allowed []string
		into    *deployOptions
	}{
		{"install", given.Install, installKeys, &c.install},
		{"upgrade", given.Upgrade, upgradeKeys, &c.upgrade},
		{"uninstall", given.Uninstall, uninstallKeys, &c.uninstall},
	} {
		options, err := optionsOf(part.field, part.given, part.allowed)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		*part.into = options
	}
	return problems
}
