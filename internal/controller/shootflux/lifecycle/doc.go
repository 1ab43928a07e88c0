// Package lifecycle reconciles the Extensions of type shoot-flux on a seed: it installs Flux with
// its source and kustomization in each shoot by ManagedResources, reports the progress, and removes
// or leaves them at the end, as configured. Pure functions make the decisions; the reconciler
// reads, calls them, and writes.
package lifecycle
