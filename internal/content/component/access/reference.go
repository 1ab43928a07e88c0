package access

import (
	"fmt"
	"strings"

	"github.com/opencontainers/go-digest"
	"oras.land/oras-go/v2/registry"
)

// Reference names an artifact in a registry.
type Reference struct {
	Scheme     string
	Host       string
	Repository string
	// Tag is "latest" if neither a tag nor a digest is given.
	Tag    string
	Digest digest.Digest
}

// ParseReference reads host/repository:tag@digest. As usual, a name without a host belongs to the
// default Docker registry.
func ParseReference(text string) (Reference, error) {
	fail := func(why any) (Reference, error) {
		return Reference{}, fmt.Errorf("%.200q is not a reference to an artifact in a registry: %v", text, why)
	}
	var reference Reference
	rest := text
	if scheme, after, found := strings.Cut(text, "://"); found {
		if scheme != "http" && scheme != "https" && scheme != "oci" {
			return fail("unknown scheme")
		}
		if rest = after; scheme == "http" {
			reference.Scheme = scheme
		}
	}
	rest, pinned, isPinned := strings.Cut(rest, "@")
	if isPinned {
		reference.Digest = digest.Digest(pinned)
		if err := reference.Digest.Validate(); err != nil {
			return fail(err)
		}
	}
	host, path, found := strings.Cut(rest, "/")
	if !found || (!strings.ContainsAny(host, ".:") && host != "localhost") {
		host, path = "docker.io", rest
		if !strings.Contains(path, "/") {
			path = "library/" + path
		}
	}
	if colon := strings.LastIndex(path, ":"); colon > strings.LastIndex(path, "/") {
		path, reference.Tag = path[:colon], path[colon+1:]
	}
	if reference.Tag == "" && !isPinned {
		reference.Tag = "latest"
	}
	reference.Host, reference.Repository = strings.ToLower(host), path
	named := registry.Reference{Registry: reference.Host, Repository: path, Reference: reference.Tag}
	if err := named.Validate(); err != nil {
		return fail(err)
	}
	return reference, nil
}
