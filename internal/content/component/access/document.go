package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/registry"
)

// StatusError says that a server has answered, but not with what was asked for.
type StatusError struct{ Code int }

// Error implements error. Everything that the server says beside the code is left out.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("the server answers %d %s", e.Code, http.StatusText(e.Code))
	if e.Is(registry.ErrDenied) {
		text += ": check the credentials for this address"
	}
	return text
}

// Is sorts the codes into the errors that callers distinguish.
func (e *StatusError) Is(target error) bool {
	switch e.Code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return target == registry.ErrDenied
	case http.StatusNotFound, http.StatusGone:
		return target == oci.ErrNotFound
	}
	return false
}

// Temporary reports whether another attempt may succeed.
func (e *StatusError) Temporary() bool {
	return e.Code >= http.StatusInternalServerError || e.Code == http.StatusTooManyRequests || e.Code == http.StatusRequestTimeout
}

const (
	headerEncoding  = "Accept-Encoding"
	headerValidator = "If-None-Match"
	// maxValidator bounds the name of a state that is remembered.
	maxValidator = 512
)

// Download reads what an address delivers, of at most limit bytes. No credentials are sent but
// those for downloads from this address.
func (r *Reader) Download(ctx context.Context, address string, limit int64) ([]byte, error) {
	return r.document(ctx, request{consumer: credential.TypeWget, url: address}, cache.Wanted{}, limit)
}

// document reads what an address delivers, or takes it from what is kept. The address of
// what is wanted is that of the request.
func (r *Reader) document(ctx context.Context, from request, wanted cache.Wanted, limit int64) ([]byte, error) {
	ask := func(ctx context.Context, validator string) (cache.Document, error) {
		asked := from
		// An archive is not decompressed: its digest is computed.
		asked.header = map[string][]string{headerEncoding: {"identity"}}
		if validator != "" {
			asked.header[headerValidator] = []string{validator}
		}
		found, err := r.fetch(ctx, asked)
		var status *StatusError
		if errors.As(err, &status) && status.Code == http.StatusNotModified {
			return cache.Document{Unchanged: true}, nil
		}
		if err != nil {
			return cache.Document{}, err
		}
		defer found.Close() //nolint:errcheck // nothing is written
		data, err := archive.ReadAll(found, limit)
		if err != nil {
			return cache.Document{}, fmt.Errorf("fetch from %s: %w", hostOf(from.url), err)
		}
		validator = found.header.Get("ETag")
		if len(validator) > maxValidator {
			validator = ""
		}
		return cache.Document{Data: data, Validator: validator}, nil
	}
	if r.Documents == nil {
		found, err := ask(ctx, "")
		return found.Data, err
	}
	// A request that trusts other authorities may reach another server.
	wanted.Address = from.url + " " + digest.FromString(from.authorities).Encoded()
	return r.Documents(ctx, wanted, ask)
}

// hostOf returns the host of an address that was asked.
func hostOf(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return "the address"
	}
	return at.Host
}
