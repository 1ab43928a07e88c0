// Package dependents finds the roots that may get a job because another one has exported
// something new to them, and asks them, once. It changes nothing itself: how somebody is
// asked is handed in.
package dependents
