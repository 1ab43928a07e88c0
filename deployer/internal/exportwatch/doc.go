// Package exportwatch is about values that change after the job of the item that has exported them:
// which of them have changed, how long further changes are awaited, how often a value is propagated
// that changes all the time, and whether another job has propagated it already.
package exportwatch
