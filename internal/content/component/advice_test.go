package component

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
)

// TestAdvise: an error about a content says what to do, once.
func TestAdvise(t *testing.T) {
	tests := []struct {
		reason string
		err    error
		want   string
	}{
		{"a component version is missing", &repository.NotFoundError{Name: "a", Version: "1.0.0", In: "r"}, "publish it there, or correct the name, the version or the repository"},
		{"something else is missing", fmt.Errorf("find charts/a: %w", oci.ErrNotFound), "publish it there, or correct the reference"},
		{"a resource is missing", &descriptor.NotFoundError{Kind: "resource", Identity: descriptor.Identity{"name": "a"}, There: []string{"blueprint", "notes"}}, "correct the name, there are blueprint, notes"},
		{"another content", fmt.Errorf("read: %w", oci.ErrDigest), "publish it again, or correct the digest"},
		{"an unknown authority", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, "certificateAuthorities"},
		{"a refused connection", &net.OpError{Op: "dial", Err: errors.New("connection refused")}, "check that the host runs"},
		{"credentials, whose error says it", fmt.Errorf("find: %w", registry.ErrDenied), ""},
		{"anything else", errors.New("no"), ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := Advise(test.err)
			if !errors.Is(got, test.err) {
				t.Errorf("%v is not in %v", test.err, got)
			}
			added := strings.TrimPrefix(got.Error(), test.err.Error())
			if test.want == "" && added != "" || !strings.Contains(added, test.want) {
				t.Errorf("it adds %q, want %q", added, test.want)
			}
		})
	}
	if Advise(nil) != nil {
		t.Error("no error becomes one")
	}
}
