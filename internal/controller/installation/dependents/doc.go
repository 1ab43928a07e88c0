// Package dependents finds the roots that may get a job because another one has exported
// something new to them, and asks them, once. Who they are is stored with the end of the
// job and removed when they were asked, so that a crash in between asks them again, and
// never none. It changes nothing itself: how somebody is asked is handed in.
package dependents
