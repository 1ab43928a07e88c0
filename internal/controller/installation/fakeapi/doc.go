// Package fakeapi is test equipment: an API server in memory with the keys of our caches, and calls
// to it that fail. It must never be used outside of tests.
package fakeapi
