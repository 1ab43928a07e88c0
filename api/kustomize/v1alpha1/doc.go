// Package v1alpha1 holds the kinds of kustomize.deployer.landscaper.gardener.cloud/v1alpha1: the kustomize deployer's configuration and status.
//
// +kubebuilder:object:generate=true
// +groupName=kustomize.deployer.landscaper.gardener.cloud
package v1alpha1
