// Package access reads what the extension shoot-flux needs from outside of the namespace of a
// shoot: the project in the garden, and the health of Flux in the shoot.
package access
