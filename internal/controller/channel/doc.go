// Package channel finds the versions that Channels offer.
//
// Package internal/model/channel judges which versions fit. A poll (poll.go) asks the registry outside the
// workers of the controller, because registries may be slow or down; package taglists lets one request
// serve all Channels that may share its answer. Package follow brings the version of a Channel to the
// Installations that follow it.
package channel
