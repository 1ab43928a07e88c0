// Package expectations knows what this process wrote last: a cache may not show it yet.
//
// An older object does not harm a write, which is bound to the version that was read. It
// harms a comparison: a controller that finds the desired state on it writes nothing, and no
// event triggers another attempt; a controller that finds an ended job on it begins the job
// once more.
//
// A controller that is enqueued by each new version of its object, or looks again soon, waits
// for the newer version. Any other one, or one that needs a further object, asks the API
// server.
//
// A write may never be shown, when the store of the API server was restored from a backup. So
// every wait ends: the API server is asked, and its answer counts.
package expectations
