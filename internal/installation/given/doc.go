// Package given is test equipment: Installations, their relatives and what an attempt
// may know of them, each from a short word, so that the row of a table reads as a
// sentence; and an API server in memory with the keys of our caches. It must never be
// used outside of tests.
package given
