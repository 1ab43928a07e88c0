package component

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"

	"oras.land/oras-go/v2/registry/remote/errcode"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/registry"
)

// IsTemporary reports whether another attempt may succeed: a host did not answer, or not
// completely. What was refused or does not exist stays so.
//
// Final errors are looked for first: a refusal of our own policy comes wrapped into errors of the
// network, which would justify another attempt.
func IsTemporary(err error) bool {
	for _, final := range []error{oci.ErrNotFound, oci.ErrDigest, registry.ErrDenied, registry.ErrRedirect, context.Canceled} {
		if errors.Is(err, final) {
			return false
		}
	}
	var refused *egress.Refused
	if errors.As(err, &refused) {
		return false
	}
	if errors.Is(err, archive.ErrBusy) || errors.Is(err, registry.ErrStalled) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var answer *errcode.ErrorResponse
	if errors.As(err, &answer) {
		return answer.StatusCode >= http.StatusInternalServerError || answer.StatusCode == http.StatusTooManyRequests
	}
	var status *access.StatusError
	if errors.As(err, &status) {
		return status.Temporary()
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return false
	}
	var network net.Error
	return errors.As(err, &network)
}
