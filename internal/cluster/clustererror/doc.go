// Package clustererror turns failures of clusters into messages of ours: with a reason and a
// remedy, and without anything that a server has quoted.
package clustererror
