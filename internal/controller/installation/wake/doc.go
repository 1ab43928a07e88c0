// Package wake finds the Installations that may continue when something has changed: the relatives
// of an Installation, those that wait for a Context, and those that import an object. It must never
// enqueue an Installation that the change cannot concern, nor judge whether it does.
package wake
