// Package channel judges which versions of a component a Channel offers. It reads nothing: a caller brings
// the tags of the registry, and what it has found out about single versions.
package channel
