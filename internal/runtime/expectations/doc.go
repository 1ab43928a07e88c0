// Package expectations knows what this process wrote last: a cache may not show it yet.
//
// An older object is no harm to a write, which is bound to the version that was read. It is
// one to a comparison: who finds on it what is to be there already writes nothing, and
// nobody comes again; and who finds a job on it that has ended begins it once more.
//
// Who is woken by each new version of its object, or looks again soon, waits for it
// (Written). Who is not, or needs an object beside its own, asks the API server (Reader).
//
// What was written may never be shown, when the store of the API server was restored from a
// backup. So no wait is for ever: the API server is asked, and its answer counts.
package expectations
