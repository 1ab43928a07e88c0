// Package gardener has the kinds of Gardener on a seed, as far as this repository uses them. They
// follow the documented API. Other fields are kept, because all writes are patches.
//
// +kubebuilder:object:generate=true
package gardener
