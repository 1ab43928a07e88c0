// Package decide chooses the next step of an Installation. Next is total: whatever the
// situation is, the time included, there is a step, and a wake that is recorded for what
// follows it. Nothing here reads, writes or waits; what a step means is for the
// controller.
package decide
