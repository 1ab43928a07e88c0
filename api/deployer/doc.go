// Package deployer holds the parts that the configurations of several deployers
// share: readiness checks, exports, deletion groups, schedules, records of what
// was deployed, and the settings of a deployer process.
//
// +kubebuilder:object:generate=true
package deployer
