package login

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.landscaper.dev/internal/console/access"
)

// proxiedFor is how long a page is sent without the proxy being asked again.
const proxiedFor = 10 * time.Minute

// Proxy authenticates users in front of the console. Its headers count only in requests that prove to
// come from it; at least one of Secret and CertificateNames is set.
type Proxy struct {
	Names
	// UserHeader has the name of the user, GroupsHeader the groups; without a name, users have none.
	UserHeader, GroupsHeader string
	// GroupsSeparator divides the groups of one header; without it, each header is one group.
	GroupsSeparator string
	// SecretHeader has to have Secret, which only the proxy knows.
	SecretHeader string
	Secret       []byte
	// CertificateNames are the names of the proxy in its client certificate, which the server of the
	// console verifies.
	CertificateNames []string
}

// trusts reports whether a request comes from the proxy. What is configured has to be right in it.
func (p *Proxy) trusts(r *http.Request) bool {
	if len(p.Secret) == 0 && len(p.CertificateNames) == 0 {
		return false
	}
	if len(p.Secret) > 0 {
		given := r.Header.Values(p.SecretHeader)
		if len(given) != 1 {
			return false
		}
		// The digests have the same length, so that the time says nothing about that of the secret.
		want, got := sha256.Sum256(p.Secret), sha256.Sum256([]byte(given[0]))
		if subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
			return false
		}
	}
	return len(p.CertificateNames) == 0 || p.certified(r)
}

// certified reports whether a request came over a connection with a certificate of the proxy.
func (p *Proxy) certified(r *http.Request) bool {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 || len(r.TLS.VerifiedChains[0]) == 0 {
		return false
	}
	leaf := r.TLS.VerifiedChains[0][0]
	return slices.ContainsFunc(append([]string{leaf.Subject.CommonName}, leaf.DNSNames...), func(name string) bool {
		return name != "" && slices.Contains(p.CertificateNames, name)
	})
}

// user returns the user whom the proxy has authenticated.
func (p *Proxy) user(r *http.Request) (access.User, error) {
	names := r.Header.Values(p.UserHeader)
	if len(names) != 1 {
		// A proxy that adds its header to that of a client would let the client choose.
		return access.User{}, errors.New("the header with the name has to be there once")
	}
	var groups []string
	if p.GroupsHeader != "" {
		for _, value := range r.Header.Values(p.GroupsHeader) {
			if p.GroupsSeparator == "" {
				groups = append(groups, strings.TrimSpace(value))
				continue
			}
			for group := range strings.SplitSeq(value, p.GroupsSeparator) {
				groups = append(groups, strings.TrimSpace(group))
			}
		}
	}
	return p.Names.user(strings.TrimSpace(names[0]), groups)
}
