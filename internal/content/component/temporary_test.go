package component

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"testing"

	"oras.land/oras-go/v2/registry/remote/errcode"

	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/registry"
)

func TestIsTemporary(t *testing.T) {
	status := func(code int) error {
		return &errcode.ErrorResponse{Method: "GET", URL: &url.URL{Host: "registry.example.org"}, StatusCode: code}
	}
	tests := []struct {
		reason string
		err    error
		want   bool
	}{
		{"nothing is wrong", nil, false},
		{"the registry is overloaded", status(503), true},
		{"the registry asks to slow down", status(429), true},
		{"the registry does not like the request", status(400), false},
		{"a web server is overloaded", &access.StatusError{Code: 503}, true},
		{"a web server asks to slow down", &access.StatusError{Code: 429}, true},
		{"a web server denies access", &access.StatusError{Code: 403}, false},
		{"a web server does not have it", &access.StatusError{Code: 404}, false},
		{"the version does not exist", oci.ErrNotFound, false},
		{"the credentials are wrong, whatever the status", errors.Join(registry.ErrDenied, status(500)), false},
		{"a refused connection", &net.OpError{Op: "dial", Err: errors.New("connection refused")}, true},
		{"the registry hangs", registry.ErrStalled, true},
		{"the answer is cut", io.ErrUnexpectedEOF, true},
		{"the answer takes too long", context.DeadlineExceeded, true},
		{"the certificate is wrong, and will be", &url.Error{Err: &tls.CertificateVerificationError{Err: errors.New("unknown authority")}}, false},
		{"an error of any other kind", errors.New("the descriptor is not valid"), false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			err := test.err
			if err != nil {
				err = fmt.Errorf("find component version: %w", err)
			}
			if got := IsTemporary(err); got != test.want {
				t.Errorf("%v", got)
			}
		})
	}
}
