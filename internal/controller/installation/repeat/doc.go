// Package repeat says when the job of an Installation is repeated without a request: after a
// failure, and after a success. It counts in the status that it is given, and must never start a
// job or look at a clock.
package repeat
