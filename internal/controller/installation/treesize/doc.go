// Package treesize counts what the Installations of each tree take, so that no blueprint can make
// more of it than a tree may have. Nothing else may rely on the counts: after a start all is
// counted again.
package treesize
