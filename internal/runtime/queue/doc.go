// Package queue provides order and fairness: whose turn it is when more is to be done
// than can be done at once. Older jobs go before newer ones, so that the first job ends
// as if it were alone instead of all ending late together; and no lane, which is a
// namespace, holds more than its share while others wait.
//
// This package does not know what a job is: controllers report which objects are at work,
// and for which job. The package sees deletions, so it lets controllers forget objects, too.
package queue
