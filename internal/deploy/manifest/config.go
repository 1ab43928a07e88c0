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
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/ignored"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/deploy/several"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	initOperation             = published.InitManifestOperation
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
		return nil, configError(reasons.ParseProviderConfiguration, err)
	}
	if document.Kind != providerConfigurationKind {
		return nil, configError(reasons.ParseProviderConfiguration, fmt.Errorf("kind must be %s", providerConfigurationKind))
	}
	switch document.APIVersion {
	case manifest.GroupVersion.String():
		config := &manifest.ProviderConfiguration{}
		return config, configError(reasons.ParseProviderConfiguration, decode(raw.Raw, config))
	case manifestv1alpha1.GroupVersion.String():
		old := &manifestv1alpha1.ProviderConfiguration{}
		if err := decode(raw.Raw, old); err != nil {
			return nil, configError(reasons.ParseProviderConfiguration, err)
		}
		return manifest.FromV1alpha1(old), nil
	}
	return nil, configError(reasons.ParseProviderConfiguration, fmt.Errorf("apiVersion must be %s or %s", manifest.GroupVersion, manifestv1alpha1.GroupVersion))
}

// unknownFields lists the fields of a configuration that its version does not have.
func unknownFields(raw *runtime.RawExtension) []string {
	var document version
	if raw == nil || decode(raw.Raw, &document) != nil {
		return nil
	}
	if document.APIVersion == manifestv1alpha1.GroupVersion.String() {
		return ignored.Fields[manifestv1alpha1.ProviderConfiguration](raw)
	}
	return ignored.Fields[manifest.ProviderConfiguration](raw)
}

// decode reads JSON. Its error names the field and the type, never a value.
func decode(raw []byte, into any) error { return yamltext.Explain(json.Unmarshal(raw, into)) }

func configError(reason reasons.Reason, err error) error {
	if err == nil {
		return nil
	}
	return job.Wrap(err, initOperation, reason, "spec.config", v1alpha1.ErrorConfigurationProblem)
}

var policies = []deployer.ManifestPolicy{"", deployer.ManagePolicy, deployer.FallbackPolicy, deployer.KeepPolicy, deployer.IgnorePolicy, deployer.ImmutablePolicy}

// settingsOf returns the part of a configuration that all deployers have.
func settingsOf(config *manifest.ProviderConfiguration) rollout.Settings {
	return rollout.Settings{
		UpdateStrategy: config.UpdateStrategy, ReadinessChecks: config.ReadinessChecks,
		Exports: config.Exports, ContinuousReconcile: config.ContinuousReconcile,
		DeletionGroups: config.DeletionGroups, DeletionGroupsDuringUpdate: config.DeletionGroupsDuringUpdate,
	}
}

// desiredState returns the desired state of a configuration. Everything is checked that can be checked
// without a cluster.
func (s source) desiredState(config *manifest.ProviderConfiguration) (rollout.DesiredState, error) {
	var problems several.Errors
	desiredState, err := settingsOf(config).DesiredState(s.Options)
	if err != nil {
		problems = append(problems, err)
	}
	for i, entry := range config.Manifests {
		problems = append(problems, mistakes(i, entry)...)
	}
	if len(problems) > 0 {
		return rollout.DesiredState{}, configError(reasons.ValidateProviderConfiguration, problems)
	}
	desiredState.Objects, err = entries(config)
	return desiredState, err
}

// mistakes returns what is wrong with an entry.
func mistakes(i int, entry manifest.Manifest) (problems []error) {
	if !slices.Contains(policies, entry.Policy) {
		problems = append(problems, fmt.Errorf("manifests[%d].policy has a value that does not exist: use manage, fallback, keep, ignore or immutable", i))
	}
	if _, err := extras(entry); err != nil {
		problems = append(problems, fmt.Errorf("manifests[%d].%w", i, err))
	}
	if entry.Manifest == nil || len(entry.Manifest.Raw) == 0 || string(entry.Manifest.Raw) == "null" {
		problems = append(problems, fmt.Errorf("manifests[%d].manifest is missing: put the object there", i))
	}
	return problems
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
			return nil, configError(reasons.ValidateProviderConfiguration, fmt.Errorf("%s must be an object", position))
		}
		policy := entry.Policy
		if policy == "" {
			policy = deployer.ManagePolicy
		}
		besides, err := extras(entry)
		if err != nil {
			return nil, configError(reasons.ValidateProviderConfiguration, fmt.Errorf("manifests[%d].%w", i, err))
		}
		list = append(list, apply.Entry{Position: position, Policy: policy, Object: &unstructured.Unstructured{Object: content}, Extras: besides})
	}
	return apply.Expand(list)
}

// extras returns what happens to an object besides.
func extras(entry manifest.Manifest) (apply.Extras, error) {
	besides := apply.Extras{
		AnnotateBeforeCreate: entry.AnnotateBeforeCreate, AnnotateBeforeDelete: entry.AnnotateBeforeDelete,
		FailOnConflict: entry.Conflicts == manifest.ConflictFail, Recreate: entry.OnImmutableChange == manifest.ImmutableChangeRecreate,
	}
	if entry.Conflicts != "" && entry.Conflicts != manifest.ConflictFail && entry.Conflicts != manifest.ConflictForce {
		return besides, errors.New("conflicts does not exist: use force or fail")
	}
	if entry.OnImmutableChange != "" && entry.OnImmutableChange != manifest.ImmutableChangeFail && entry.OnImmutableChange != manifest.ImmutableChangeRecreate {
		return besides, errors.New("onImmutableChange does not exist: use fail or recreate")
	}
	for i, text := range entry.IgnoreDifferences {
		pointer, err := apply.ParsePointer(text)
		if err != nil {
			return besides, fmt.Errorf("ignoreDifferences[%d]: %w", i, err)
		}
		besides.Ignored = append(besides.Ignored, pointer)
	}
	if _, err := patchOf("patchBeforeDelete", entry.PatchBeforeDelete); err != nil {
		return besides, err
	}
	besides.PatchBeforeDelete = entry.PatchBeforeDelete
	var err error
	besides.PatchAfterDeployment, err = patchOf("patchAfterDeployment", entry.PatchAfterDeployment)
	return besides, err
}

// patchOf reads a patch, nil without one.
func patchOf(field string, raw *runtime.RawExtension) (map[string]any, error) {
	if raw == nil || len(raw.Raw) == 0 || string(raw.Raw) == "null" {
		return nil, nil
	}
	var patch map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw.Raw, &patch); err != nil {
		// The reason is dropped on purpose: it may quote a value.
		return nil, errors.New(field + " must be an object")
	}
	return patch, nil
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
	return nil, statusError(errors.New("its apiVersion is not one of the manifest deployer"))
}

func inventoryOf(status *manifest.ProviderStatus, err error) (apply.Inventory, error) {
	if err != nil {
		return nil, statusError(err)
	}
	return apply.Inventory(status.ManagedResources), nil
}

func statusError(err error) error {
	return job.Wrap(err, initOperation, reasons.ParseProviderStatus, "status.providerStatus", v1alpha1.ErrorConfigurationProblem)
}

// statusOf is the form in which an inventory is stored.
func statusOf(inventory apply.Inventory) *manifest.ProviderStatus {
	status := &manifest.ProviderStatus{ManagedResources: deployer.ManagedResourceStatusList(inventory)}
	status.APIVersion, status.Kind = manifest.GroupVersion.String(), providerStatusKind
	return status
}
