// Package status writes into the status of an item how its job stands, and tells which
// of two statuses are worth a write.
package status
