// Package installation drives Installations. Each reconcile reads a snapshot from the caches
// (observe), chooses one step (decide, a pure function), carries it out (apply) and writes the
// status once (report); it repeats this as long as there is something to do without waiting. The
// steps and the rendering of blueprints are here; what they read, decide, write and report is in
// the packages below. A step must never judge what is next.
package installation
