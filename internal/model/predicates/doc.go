// Package predicates reads facts from one Installation alone: its parent, the requests of users,
// whether it exports something. It must never look at another object, change anything, or decide
// what follows: package decide does that.
package predicates
