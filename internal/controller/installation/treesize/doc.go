// Package treesize counts what the Installations of each tree take, so that no blueprint can
// make more of it than a tree may have. It must never be believed about anything else:
// after a start it is counted again.
package treesize
