// Package model lives through histories in which the real controllers work in memory. Each is made from a
// seed, and everything that can go wrong does; after every step the invariants of the job protocol are
// checked. Whatever fails can be repeated from its seed.
//
// It knows the controllers by their public fields and by Reconcile. A history is a world (package world)
// with all that is around its process: trees of Installations, a garden, and a shoot.
package model
