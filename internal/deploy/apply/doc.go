// Package apply puts objects into a target cluster: in which order, what becomes
// of an object that exists, and what is remembered of all that.
package apply
