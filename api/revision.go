package api

import (
	_ "embed"
	"strconv"
	"strings"
)

// revision is a number, which grows with every change of the manifests, and the
// digest of the manifests that it belongs to. "make generate" writes it.
//
//go:embed revision.txt
var revision string

// Revision returns the number of the embedded manifests. An installer compares
// it with the number in a cluster to tell an upgrade from a downgrade.
func Revision() int {
	number, _, _ := strings.Cut(revision, " ")
	parsed, err := strconv.Atoi(number)
	if err != nil {
		panic("api/revision.txt does not begin with a number: run make generate")
	}
	return parsed
}
