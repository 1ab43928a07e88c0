// Package watch holds the running watches of one cluster: one for each kind, namespace and depth,
// shared by all subscribers, within the budget.
package watch
