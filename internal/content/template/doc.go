// Package template turns templates of a blueprint into values. A template can use its source and
// its bindings only; it does not reach the environment, the files of the machine or the network,
// except through functions that the caller adds.
//
// An Engine renders executions of both template types, Mapping evaluates data
// mappings. Their errors explain where a template fails and show no value that it
// works with.
package template
