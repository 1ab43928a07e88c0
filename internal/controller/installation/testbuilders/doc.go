// Package testbuilders is test equipment: Installations, their relatives and what an attempt may
// know of them, each from a short word, so that the row of a table reads as a sentence. It must
// never be used outside of tests. The API server that the rows of other packages need is in memory,
// because linking one takes seconds.
package testbuilders
