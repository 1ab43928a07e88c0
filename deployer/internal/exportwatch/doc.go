// Package exportwatch is about values that change after the job of the item that has exported
// them: which of them did, how long more of them are awaited, how often one may be handed
// on that never comes to rest, and whether somebody has handed it on already.
package exportwatch
