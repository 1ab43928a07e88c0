// Package gardener holds the kinds of Gardener that an extension meets on a seed, as far
// as this repository uses them. They are written after the documented API. Fields that are
// missing here are kept, because everything is written with patches.
//
// +kubebuilder:object:generate=true
package gardener
