// Package v1alpha1 holds the kinds of flux.extensions.gardener.cloud/v1alpha1: what the
// owner of a Shoot writes into the provider configuration of the extension shoot-flux.
//
// +kubebuilder:object:generate=true
// +groupName=flux.extensions.gardener.cloud
package v1alpha1
