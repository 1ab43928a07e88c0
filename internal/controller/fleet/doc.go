// Package fleet is the controller of Fleets. What is to be done is decided by internal/model/fleet; this
// package reads, carries out, and remembers what caches do not show yet.
package fleet
