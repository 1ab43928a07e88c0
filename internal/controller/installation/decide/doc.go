// Package decide chooses the next step of an Installation. Next is total: it returns a step and a
// wake for any situation, the time included. Nothing here reads, writes or waits; the controller
// carries out the steps.
package decide
