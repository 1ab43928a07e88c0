// Package v1alpha1 holds the kinds of fleet.landscaper.dev/v1alpha1: one product on many clusters, at the
// version that a channel finds. Only we have this group; the kinds of landscaper.gardener.cloud know
// nothing of it.
//
// +kubebuilder:object:generate=true
// +groupName=fleet.landscaper.dev
package v1alpha1
