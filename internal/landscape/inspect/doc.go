// Package inspect tells how a running landscape stands: the tree of its objects,
// how far each one is, and what it waits for. It works on a Snapshot, which somebody else
// has read (reading does). It knows nothing about how the result is shown.
package inspect
