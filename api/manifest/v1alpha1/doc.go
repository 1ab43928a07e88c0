// Package v1alpha1 holds the kinds of manifest.deployer.landscaper.gardener.cloud/v1alpha1: the older form of the manifest deployer's configuration and status.
//
// +kubebuilder:object:generate=true
// +groupName=manifest.deployer.landscaper.gardener.cloud
package v1alpha1
