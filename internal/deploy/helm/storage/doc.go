// Package storage keeps what is known of Helm releases: revisions in Secrets, as Helm stores them,
// so that its command line and upstream see the same releases.
package storage
