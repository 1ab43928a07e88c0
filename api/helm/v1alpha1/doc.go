// Package v1alpha1 holds the kinds of helm.deployer.landscaper.gardener.cloud/v1alpha1: the Helm deployer's configuration and status.
//
// +kubebuilder:object:generate=true
// +groupName=helm.deployer.landscaper.gardener.cloud
package v1alpha1
