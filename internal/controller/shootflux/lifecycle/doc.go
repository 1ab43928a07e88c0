// Package lifecycle looks after the Extensions of type shoot-flux on a seed: it brings
// Flux and what it is to follow into each shoot by ManagedResources, says how far it is,
// and takes it away again or leaves it, as configured. What is to be done is decided by
// functions over values; the reconciler reads, asks them, and writes.
package lifecycle
