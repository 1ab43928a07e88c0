package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"go.landscaper.dev/api/deployer"
	manifestv1alpha1 "go.landscaper.dev/api/manifest/v1alpha1"
	manifest "go.landscaper.dev/api/manifest/v1alpha2"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/job"
)

const (
	initOperation             = "InitManifestOperation"
	parseConfiguration        = "ParseProviderConfiguration"
	validateConfiguration     = "ValidateProviderConfiguration"
	parseStatus               = "ParseProviderStatus"
	providerStatusKind        = "ProviderStatus"
	providerConfigurationKind = "ProviderConfiguration"
)

// version is the apiVersion and kind of a document.
type version struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// parseConfig reads the configuration of an item in any of its versions.
func parseConfig(raw *runtime.RawExtension) (*manifest.ProviderConfiguration, error) {
	var document version
	if err := decode(raw.Raw, &document); err != nil {
		return nil, configError(parseConfiguration, err)
	}
	if document.Kind != providerConfigurationKind {
		return nil, configError(parseConfiguration, fmt.Errorf("kind is %q, it must be %s", document.Kind, providerConfigurationKind))
	}
	switch document.APIVersion {
	case manifest.GroupVersion.String():
		config := &manifest.ProviderConfiguration{}
		return config, configError(parseConfiguration, decode(raw.Raw, config))
	case manifestv1alpha1.GroupVersion.String():
		old := &manifestv1alpha1.ProviderConfiguration{}
		if err := decode(raw.Raw, old); err != nil {
			return nil, configError(parseConfiguration, err)
		}
		return manifest.FromV1alpha1(old), nil
	}
	return nil, configError(parseConfiguration, fmt.Errorf("apiVersion is %q, it must be %s or %s", document.APIVersion, manifest.GroupVersion, manifestv1alpha1.GroupVersion))
}

// decode reads JSON. Its error names the field and the type, never a value.
func decode(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	var wrongType *json.UnmarshalTypeError
	if errors.As(err, &wrongType) {
		return fmt.Errorf("field %s: a %s does not fit, it must be a %s", wrongType.Field, wrongType.Value, wrongType.Type)
	}
	return err
}

func configError(reason string, err error) error {
	if err == nil {
		return nil
	}
	return job.Wrap(err, initOperation, reason, "spec.config", v1alpha1.ErrorConfigurationProblem)
}

var (
	policies   = []deployer.ManifestPolicy{"", deployer.ManagePolicy, deployer.FallbackPolicy, deployer.KeepPolicy, deployer.IgnorePolicy, deployer.ImmutablePolicy}
	strategies = []deployer.UpdateStrategy{"", deployer.UpdateStrategyUpdate, deployer.UpdateStrategyPatch, deployer.UpdateStrategyMerge, deployer.UpdateStrategyMergeOverwrite}
)

// validate checks what can be checked without a cluster.
func validate(config *manifest.ProviderConfiguration) error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if config.UpdateStrategy == deployer.UpdateStrategyApply {
		problem("updateStrategy apply is not supported yet: use update, patch, merge or mergeOverwrite")
	} else if !slices.Contains(strategies, config.UpdateStrategy) {
		problem("updateStrategy %q does not exist: use update, patch, merge or mergeOverwrite", config.UpdateStrategy)
	}
	for _, field := range unsupported(config) {
		problem("%s is not supported yet: remove it", field)
	}
	for i, entry := range config.Manifests {
		if !slices.Contains(policies, entry.Policy) {
			problem("manifests[%d].policy %q does not exist: use manage, fallback, keep, ignore or immutable", i, entry.Policy)
		}
		if entry.Manifest == nil || len(entry.Manifest.Raw) == 0 || string(entry.Manifest.Raw) == "null" {
			problem("manifests[%d].manifest is missing: put the object there", i)
		}
	}
	return configError(validateConfiguration, several(problems).orNil())
}

// unsupported returns the fields in use whose meaning is not built yet. To leave
// them out silently would deploy something else than what was asked for.
func unsupported(config *manifest.ProviderConfiguration) []string {
	var fields []string
	used := func(name string, is bool) {
		if is {
			fields = append(fields, name)
		}
	}
	used("readinessChecks.custom", len(config.ReadinessChecks.CustomReadinessChecks) > 0)
	used("readinessChecks.mode", config.ReadinessChecks.Mode != "" && config.ReadinessChecks.Mode != deployer.ReadinessModeLegacy)
	used("exports", config.Exports != nil && len(config.Exports.Exports) > 0)
	used("continuousReconcile", config.ContinuousReconcile != nil)
	used("deletionGroups", len(config.DeletionGroups) > 0)
	used("deletionGroupsDuringUpdate", len(config.DeletionGroupsDuringUpdate) > 0)
	for i, entry := range config.Manifests {
		at := fmt.Sprintf("manifests[%d].", i)
		used(at+"annotateBeforeCreate", len(entry.AnnotateBeforeCreate) > 0)
		used(at+"annotateBeforeDelete", len(entry.AnnotateBeforeDelete) > 0)
		used(at+"patchAfterDeployment", entry.PatchAfterDeployment != nil)
		used(at+"patchBeforeDelete", entry.PatchBeforeDelete != nil)
		used(at+"onImmutableChange", entry.OnImmutableChange != "")
		used(at+"conflicts", entry.Conflicts != "")
		used(at+"ignoreDifferences", len(entry.IgnoreDifferences) > 0)
	}
	return fields
}

// entries returns the objects of a configuration.
func entries(config *manifest.ProviderConfiguration) ([]apply.Entry, error) {
	var list []apply.Entry
	for i, entry := range config.Manifests {
		position := fmt.Sprintf("manifests[%d].manifest", i)
		var content map[string]any
		// Whole numbers stay whole: the API server would refuse others in many places.
		if err := kjson.UnmarshalCaseSensitivePreserveInts(entry.Manifest.Raw, &content); err != nil || content == nil {
			// The reason is dropped on purpose: it may quote a value.
			return nil, configError(validateConfiguration, fmt.Errorf("%s must be an object", position))
		}
		policy := entry.Policy
		if policy == "" {
			policy = deployer.ManagePolicy
		}
		list = append(list, apply.Entry{Position: position, Policy: policy, Object: &unstructured.Unstructured{Object: content}})
	}
	return apply.Expand(list)
}

// parseInventory reads the status of an item in any of its versions.
func parseInventory(raw *runtime.RawExtension) (apply.Inventory, error) {
	if raw == nil || len(raw.Raw) == 0 {
		return nil, nil
	}
	var document version
	if err := decode(raw.Raw, &document); err != nil {
		return nil, statusError(err)
	}
	switch document.APIVersion {
	case manifest.GroupVersion.String():
		status := &manifest.ProviderStatus{}
		return inventoryOf(status, decode(raw.Raw, status))
	case manifestv1alpha1.GroupVersion.String():
		old := &manifestv1alpha1.ProviderStatus{}
		err := decode(raw.Raw, old)
		return inventoryOf(manifest.StatusFromV1alpha1(old), err)
	}
	return nil, statusError(fmt.Errorf("apiVersion %q is not one of the manifest deployer", document.APIVersion))
}

func inventoryOf(status *manifest.ProviderStatus, err error) (apply.Inventory, error) {
	if err != nil {
		return nil, statusError(err)
	}
	return apply.Inventory(status.ManagedResources), nil
}

func statusError(err error) error {
	return job.Wrap(err, initOperation, parseStatus, "status.providerStatus", v1alpha1.ErrorConfigurationProblem)
}

// statusOf is the form in which an inventory is stored.
func statusOf(inventory apply.Inventory) *manifest.ProviderStatus {
	status := &manifest.ProviderStatus{ManagedResources: deployer.ManagedResourceStatusList(inventory)}
	status.APIVersion, status.Kind = manifest.GroupVersion.String(), providerStatusKind
	return status
}
