// Package dataflow works out where the values of an Installation come from and
// where they go: which objects it reads, what identifies their values, and the
// copies that its children read. Everything here is a function of values.
package dataflow
