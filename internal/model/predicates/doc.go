// Package predicates reads what one Installation says about itself: what it is a part of,
// what users ask of it, whether it exports something. It must never look at another
// object, change anything, or decide what follows: package decide does that.
package predicates
