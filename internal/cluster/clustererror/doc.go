// Package clustererror tells what went wrong with a cluster in our words: with a reason and a
// remedy, and without anything that a server has quoted.
package clustererror
