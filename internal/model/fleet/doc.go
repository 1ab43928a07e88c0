// Package fleet says what a Fleet leads to: which Installations its Targets get, in which wave each of
// them changes, what is written next, and how far the roll-out is. It follows from objects that others
// have read, and from the time.
package fleet
