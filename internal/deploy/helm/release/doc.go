// Package release makes Helm releases: it installs, upgrades, rolls back and removes
// them step by step and never waits itself. Records are stored as Helm stores them, so
// that its command line and the public system see the same releases.
package release
