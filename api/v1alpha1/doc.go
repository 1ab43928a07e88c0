// Package v1alpha1 holds the Kubernetes types of the API group
// landscaper.gardener.cloud, version v1alpha1, and the file kinds (Blueprint,
// InstallationTemplate) that share its group and version.
//
// One rule holds for every type here: what the CRD schema admits must decode.
// A watch delivers whole lists of objects, so a decoder that fails on one
// user's typing error would stop the work of all users. Values that may be
// wrong (durations, typed objects, compressed lists) therefore keep what they
// were given and report the error when they are used.
//
// +kubebuilder:object:generate=true
// +groupName=landscaper.gardener.cloud
package v1alpha1
