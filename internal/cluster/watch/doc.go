// Package watch holds the running watches of one cluster: one for each kind, namespace and
// depth, shared by all who wait, within the budget.
package watch
