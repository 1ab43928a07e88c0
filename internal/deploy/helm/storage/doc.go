// Package storage keeps what is known of Helm releases: revisions in Secrets, as Helm
// stores them, so that its command line and the public system see the same releases.
package storage
