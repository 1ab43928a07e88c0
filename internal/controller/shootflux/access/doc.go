// Package access reads what the extension shoot-flux needs from outside of the namespace
// of a shoot: the project in the garden, and how Flux fares in the shoot.
package access
