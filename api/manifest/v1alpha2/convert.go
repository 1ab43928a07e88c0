package v1alpha2

import (
	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/manifest/v1alpha1"
)

// FromV1alpha1 returns the configuration in the form of today. Nothing is lost.
func FromV1alpha1(old *v1alpha1.ProviderConfiguration) *ProviderConfiguration {
	config := &ProviderConfiguration{
		TypeMeta:                   old.TypeMeta,
		UpdateStrategy:             old.UpdateStrategy,
		ReadinessChecks:            old.ReadinessChecks,
		Exports:                    old.Exports,
		DeletionGroups:             old.DeletionGroups,
		DeletionGroupsDuringUpdate: old.DeletionGroupsDuringUpdate,
	}
	config.APIVersion = GroupVersion.String()
	for _, manifest := range old.Manifests {
		config.Manifests = append(config.Manifests, Manifest{Policy: deployer.ManagePolicy, Manifest: manifest})
	}
	return config
}

// StatusFromV1alpha1 returns the status in the form of today.
func StatusFromV1alpha1(old *v1alpha1.ProviderStatus) *ProviderStatus {
	status := &ProviderStatus{TypeMeta: old.TypeMeta}
	status.APIVersion = GroupVersion.String()
	for _, resource := range old.ManagedResources {
		status.ManagedResources = append(status.ManagedResources, deployer.ManagedResourceStatus{
			Policy: deployer.ManagePolicy,
			Resource: corev1.ObjectReference{
				APIVersion: resource.APIVersion,
				Kind:       resource.Kind,
				Name:       resource.Name,
				Namespace:  resource.Namespace,
			},
		})
	}
	return status
}
