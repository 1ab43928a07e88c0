// Package release makes Helm releases: it installs, upgrades, rolls back and removes
// them step by step and never waits itself. What is to be done is a table (decide.go);
// what was done is in the records of package records.
package release
