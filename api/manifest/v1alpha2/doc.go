// Package v1alpha2 holds the kinds of manifest.deployer.landscaper.gardener.cloud/v1alpha2: the manifest deployer's configuration and status.
//
// +kubebuilder:object:generate=true
// +groupName=manifest.deployer.landscaper.gardener.cloud
package v1alpha2
