// Package reporter tells how jobs go: in the status of their objects (phase, conditions,
// error, history), by events, and where administrators look when we break down. What
// follows for the queue, such as the pause until the next attempt, is here too.
package reporter
