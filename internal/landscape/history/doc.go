// Package history says what the records of jobs in statuses mean: which jobs an Installation has had, and
// what differs between two of them. It reads objects that others have read, and knows no client.
package history
