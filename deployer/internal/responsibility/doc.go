// Package responsibility decides which Targets a process serves, from the selectors in its
// configuration.
package responsibility
