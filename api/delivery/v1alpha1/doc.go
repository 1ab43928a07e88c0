// Package v1alpha1 holds the kinds of delivery.landscaper.dev/v1alpha1: when jobs of Installations may
// begin, which approvals they need, and with which specifications they have begun. Only we have this group;
// the kinds of landscaper.gardener.cloud know nothing of it.
//
// +kubebuilder:object:generate=true
// +groupName=delivery.landscaper.dev
package v1alpha1
