// Package cluster leads from a Target to the cluster behind it: it keeps a bounded
// number of connections, each with clients, a mapping of kinds to resources, and watches
// that all who wait share. Its rooms say what one logs in with (login), what may pass
// (traffic), what it may cost (budget), what is watched (watch), and how failures are told
// (failure).
package cluster
