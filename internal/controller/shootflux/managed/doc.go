// Package managed applies objects to shoots by ManagedResources of Gardener's resource manager.
// Contents are in immutable Secrets that are named for their content, so that a ManagedResource
// alone shows whether anything has to be written.
package managed
