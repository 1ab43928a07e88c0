package component

import (
	"crypto/tls"
	"errors"
	"fmt"

	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
)

// Advise adds to an error about a content what to do about it, where the error itself
// does not say so.
func Advise(err error) error {
	if advice := Advice(err); advice != "" {
		return fmt.Errorf("%w: %s", err, advice)
	}
	return err
}

// Advice is what Advise adds; empty if there is nothing to say.
func Advice(err error) string {
	var advised interface{ Advice() string }
	if errors.As(err, &advised) {
		return advised.Advice() // by another process, which has seen more of the error
	}
	var version *repository.NotFoundError
	var element *descriptor.NotFoundError
	var certificate *tls.CertificateVerificationError
	switch {
	case err == nil, errors.Is(err, registry.ErrDenied):
		return "" // says it
	case errors.As(err, &version):
		return "publish it there, or correct the name, the version or the repository"
	case errors.As(err, &element) && element.Matches == 0 && len(element.There) > 0:
		return "correct the name, there are " + suggest.Enumerate(element.There)
	case errors.Is(err, oci.ErrDigest):
		return "the content has changed since its digest was taken: publish it again, or correct the digest"
	case errors.Is(err, oci.ErrNotFound):
		return "publish it there, or correct the reference"
	case errors.As(err, &certificate):
		return "check the address, and add the authority of the host to registry.oci.certificateAuthorities of the server"
	case IsTemporary(err):
		return "check that the host runs and can be reached from the server"
	}
	return ""
}
