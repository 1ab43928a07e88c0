// Package status writes the state of a job into the status of its item, and reports which
// differences of a status are worth a write.
package status
