// Package index says under which keys the caches find Installations and what they write:
// by parent, by what they wait for, by what they import; and objects by their scope or
// their source. It reads nothing itself.
package index
