// Package inspect describes the progress of a running landscape: the tree of its objects, the state
// of each object, and what it waits for. It works on a Snapshot, which package reading provides. It
// does not depend on how the result is shown.
package inspect
