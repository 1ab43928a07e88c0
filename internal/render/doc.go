// Package render turns templates of a blueprint into text and values. What a
// template may use comes in with its source and its bindings; nothing reaches the
// environment, the files of the machine or the network.
package render
