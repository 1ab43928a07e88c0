// Package managed brings objects into shoots by ManagedResources of Gardener's resource
// manager. Contents are in Secrets that never change and are named for what they hold, so
// that a look at a ManagedResource tells whether anything has to be written.
package managed
