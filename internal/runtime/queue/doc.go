// Package queue is the room for order and fairness: whose turn it is when more is
// to be done than can be done at once. Older jobs go before newer ones, so that the
// first job ends as if it were alone instead of all ending late together; and no
// lane, which is a namespace, holds more than its share while others wait.
//
// What a job is this package does not know: controllers tell which objects are at
// work, and for whom. As it sees how objects end, it lets controllers forget them, too.
package queue
