// Package dataflow computes the sources and the destinations of the values of an Installation:
// which objects it reads, whether they are what its blueprint asks for, what identifies them, the
// copies that its children read, and the objects that it publishes. Everything here is a function
// of values.
package dataflow
