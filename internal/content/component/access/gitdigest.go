package access

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"go.landscaper.dev/internal/content/component/descriptor"
)

// PacksItself reports whether each tool packs what is behind an access into bytes of its own, so
// that a digest which another tool took of them does not fit. Archives of commits are such: those
// of the ocm command line name the user and the group of the machine that made them, and differ
// from machine to machine.
func PacksItself(access descriptor.Typed) bool { return strings.EqualFold(access.Kind(), "git") }

// isCommit reports whether an access names its content by a complete commit hash. The
// objects that were fetched have it, whatever archive is made of them.
func isCommit(access descriptor.Typed) bool {
	var spec struct {
		Commit string `json:"commit"`
	}
	return PacksItself(access) && access.Decode(&spec) == nil && plumbing.IsHash(spec.Commit)
}
