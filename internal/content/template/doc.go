// Package template turns templates of a blueprint into values. What a template may
// use comes in with its source and its bindings; nothing reaches the environment,
// the files of the machine or the network, except through functions that the
// caller adds.
//
// An Engine renders executions of both template types, Mapping evaluates data
// mappings. Their errors explain where a template fails and show no value that it
// works with.
package template
