package kustomize

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/deployer"
	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/ignored"
	"go.landscaper.dev/internal/deploy/kustomize/files"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/deploy/several"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

const (
	initOperation  = published.InitKustomizeOperation
	buildOperation = published.BuildKustomization
)

// parseConfig reads the configuration of an item. Unlike in those of published deployers, an
// unknown field is an error: it may be misspelt.
func parseConfig(raw *runtime.RawExtension) (*api.ProviderConfiguration, error) {
	if raw == nil {
		return nil, configError(reasons.ParseProviderConfiguration, errors.New("it is missing"))
	}
	if err := ignored.Refused[api.ProviderConfiguration](raw); err != nil {
		return nil, configError(reasons.ParseProviderConfiguration, err)
	}
	config := &api.ProviderConfiguration{}
	if err := yamltext.UnmarshalStrict(raw.Raw, yamltext.DefaultLimits(), config); err != nil {
		return nil, configError(reasons.ParseProviderConfiguration, err)
	}
	if config.APIVersion != api.GroupVersion.String() || config.Kind != "ProviderConfiguration" {
		return nil, configError(reasons.ParseProviderConfiguration, fmt.Errorf("apiVersion must be %s and kind ProviderConfiguration", api.GroupVersion))
	}
	return config, nil
}

func configError(reason reasons.Reason, err error) error {
	if err == nil {
		return nil
	}
	return job.Wrap(err, initOperation, reason, "spec.config", v1alpha1.ErrorConfigurationProblem)
}

// settingsOf returns the part of a configuration that all deployers have.
func settingsOf(config *api.ProviderConfiguration) rollout.Settings {
	return rollout.Settings{
		UpdateStrategy: config.UpdateStrategy, ReadinessChecks: config.ReadinessChecks,
		Exports: config.Exports, ContinuousReconcile: config.ContinuousReconcile,
		DeletionGroups: config.DeletionGroups, DeletionGroupsDuringUpdate: config.DeletionGroupsDuringUpdate,
	}
}

// check returns what a configuration asks for, without its objects. Everything is
// checked that can be checked without the source and without a cluster.
func (s objects) check(config *api.ProviderConfiguration) (rollout.DesiredState, error) {
	var problems several.Errors
	desiredState, err := settingsOf(config).DesiredState(s.Options.Options)
	for _, err := range []error{err, files.Check(&config.Source)} {
		if err != nil {
			problems = append(problems, err)
		}
	}
	return desiredState, configError(reasons.ValidateProviderConfiguration, problems.OrNil())
}

// parseInventory reads the status of an item.
func parseInventory(raw *runtime.RawExtension) (apply.Inventory, error) {
	if raw == nil || len(raw.Raw) == 0 {
		return nil, nil
	}
	status := &api.ProviderStatus{}
	err := yamltext.Explain(json.Unmarshal(raw.Raw, status))
	if err == nil && status.APIVersion != api.GroupVersion.String() {
		err = errors.New("its apiVersion is not that of the kustomize deployer")
	}
	if err != nil {
		return nil, job.Wrap(err, initOperation, reasons.ParseProviderStatus, "status.providerStatus", v1alpha1.ErrorConfigurationProblem)
	}
	return apply.Inventory(status.ManagedResources), nil
}

// statusOf is the form in which an inventory is stored.
func statusOf(inventory apply.Inventory) *api.ProviderStatus {
	status := &api.ProviderStatus{ManagedResources: deployer.ManagedResourceStatusList(inventory)}
	status.APIVersion, status.Kind = api.GroupVersion.String(), "ProviderStatus"
	return status
}
