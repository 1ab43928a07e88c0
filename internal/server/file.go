package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-base/featuregate"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/controller/installation"
	"go.landscaper.dev/internal/model/predicates"
	"go.landscaper.dev/internal/model/validation"
)

// fileVersion is the version of the kind.
const fileVersion = "config.landscaper.gardener.cloud/v1alpha1"

// file is the configuration in the form of the published kind LandscaperConfiguration.
type file struct {
	APIVersion        string                            `json:"apiVersion"`
	Kind              string                            `json:"kind"`
	RepositoryContext *v1alpha1.UnstructuredTypedObject `json:"repositoryContext"`
	Controllers       struct {
		Installations workersConfig `json:"installations"`
		Executions    workersConfig `json:"executions"`
		DeployItems   workersConfig `json:"deployItems"`
		Contexts      contextsFile  `json:"contexts"`
		// Context is the spelling of contexts in published examples.
		Context contextsFile `json:"context"`
	} `json:"controllers"`
	Metrics *struct {
		Port int32 `json:"port"`
		// Open serves metrics without TLS and without authentication.
		Open bool `json:"open"`
	} `json:"metrics"`
	// Deployments is about the Deployments of upstream; only the object that reports their health
	// has a meaning here.
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
	// Blueprints are permissions of their authors.
	Blueprints struct {
		// NamedTargets lets them use any Target and Secret of the namespace by its name.
		NamedTargets bool `json:"namedTargets"`
	} `json:"blueprints"`
	// Deployers are the rules for all items of the deployers.
	Deployers DeployersConfig `json:"deployers"`
	// Console is what browsers get.
	Console ConsoleConfig `json:"console"`
	// Channels is what Channels get besides their own specification.
	Channels ChannelsConfig `json:"channels"`
	// FeatureGates switch features on or off.
	FeatureGates map[string]bool `json:"featureGates"`
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

// Load merges a file of the published kind LandscaperConfiguration. It returns warnings about keys
// that have no effect.
//
// A key of the published kind without a meaning here is a warning, not an error, and so is an
// unknown key, unless it seems to restrict something: a misspelt egress.denyPrivate must not leave
// everything allowed.
func (c *Config) Load(path string) ([]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	read, keys, err := decode(content)
	if err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	warnings, err := judgeKeys(keys)
	if err := errors.Join(append(c.takeLimits(read), c.takeFeatures(read.FeatureGates), err)...); err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	c.apply(read)
	return warnings, nil
}

// decode reads the content of a file, and its keys.
func decode(content []byte) (*file, map[string]any, error) {
	text, err := yaml.YAMLToJSONStrict(content)
	if err != nil {
		return nil, nil, fmt.Errorf("decode configuration: %w", err)
	}
	var keys map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &keys); err != nil {
		return nil, nil, errors.New("decode configuration: write a map of keys and values")
	}
	read := &file{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, read); err != nil {
		return nil, nil, wrongValue(keys, err)
	}
	if read.Kind != "" && read.Kind != "LandscaperConfiguration" {
		return nil, nil, fmt.Errorf("it is of kind %s, not LandscaperConfiguration", read.Kind)
	}
	if read.APIVersion != "" && read.APIVersion != fileVersion {
		return nil, nil, fmt.Errorf("its apiVersion is %s: write %s", read.APIVersion, fileVersion)
	}
	return read, keys, nil
}

// wrongValue names the field whose value cannot be decoded, without the text of the decoder, which
// names types of this program.
func wrongValue(keys map[string]any, err error) error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) && mismatch.Field != "" {
		return fmt.Errorf("%s is %s: write %s", mismatch.Field, article(mismatch.Value), inWords(mismatch.Type))
	}
	// Values with a decoder of their own, such as networks, do not know their path.
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		alone, failed := json.Marshal(map[string]any{key: keys[key]})
		if failed == nil && kjson.UnmarshalCaseSensitivePreserveInts(alone, &file{}) != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return err
}

// article returns a JSON type with its article.
func article(value string) string {
	switch value {
	case "array":
		return "a list"
	case "object":
		return "a map"
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	}
	return "the " + value // a number
}

// inWords names the JSON type of a field.
func inWords(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Int, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "a list"
	}
	return "a map"
}

// mostWorkers is above any useful number.
const mostWorkers = 10000

// takeLimits checks the numbers and times of a file, and copies those that need a conversion. It
// returns all problems.
func (c *Config) takeLimits(read *file) []error {
	var errs []error
	for _, workers := range []struct {
		field string
		count int
	}{
		{"installations", read.Controllers.Installations.Workers},
		{"executions", read.Controllers.Executions.Workers},
		{"deployItems", read.Controllers.DeployItems.Workers},
		{"contexts", read.Controllers.Contexts.Workers},
		{"context", read.Controllers.Context.Workers},
	} {
		// 0 means the default, as published.
		if workers.count < 0 || workers.count > mostWorkers {
			errs = append(errs, fmt.Errorf("controllers.%s.workers is %d: write a number from 1 to %d, or leave the key out for the default", workers.field, workers.count, mostWorkers))
		}
	}
	if read.Metrics != nil && (read.Metrics.Port < 0 || read.Metrics.Port > math.MaxUint16) {
		errs = append(errs, fmt.Errorf("metrics.port is %d: write a number from 1 to %d, or leave the key out for the default", read.Metrics.Port, math.MaxUint16))
	}
	if pickup := read.DeployItemTimeouts.Pickup; pickup != nil {
		limit, err := pickup.Parsed()
		if err == nil && limit < 0 {
			err = fmt.Errorf("%s is below 0: write a time such as 5m, or none for no limit", limit)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("deployItemTimeouts.pickup: %w", err))
		} else {
			c.PickupTimeout = limit
		}
	}
	return errs
}

// takeFeatures sets the gates that no flag has set.
func (c *Config) takeFeatures(gates map[string]bool) error {
	gates = maps.Clone(gates)
	maps.DeleteFunc(gates, func(name string, _ bool) bool { return c.Features.ExplicitlySet(featuregate.Feature(name)) })
	if err := c.Features.SetFromMap(gates); err != nil {
		return fmt.Errorf("featureGates: %w", err)
	}
	return nil
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
	c.Deployers, c.NamedTargets = read.Deployers, read.Blueprints.NamedTargets
	c.Triggers, c.Console, c.Channels = predicates.Triggers(read.Reconcile), read.Console, read.Channels
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
