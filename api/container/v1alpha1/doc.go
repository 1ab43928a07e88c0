// Package v1alpha1 holds the kinds of container.deployer.landscaper.gardener.cloud/v1alpha1: the container deployer's configuration and status.
//
// +kubebuilder:object:generate=true
// +groupName=container.deployer.landscaper.gardener.cloud
package v1alpha1
