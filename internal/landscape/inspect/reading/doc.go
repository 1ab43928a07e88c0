// Package reading reads what inspect judges from an API server: Collect reads a snapshot
// once, Follow keeps one up to date.
package reading
