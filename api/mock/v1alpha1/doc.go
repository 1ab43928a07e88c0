// Package v1alpha1 holds the kinds of mock.deployer.landscaper.gardener.cloud/v1alpha1: the mock deployer's configuration.
//
// +kubebuilder:object:generate=true
// +groupName=mock.deployer.landscaper.gardener.cloud
package v1alpha1
