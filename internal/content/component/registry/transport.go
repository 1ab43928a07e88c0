package registry

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"oras.land/oras-go/v2/registry/remote/auth"

	"go.landscaper.dev/internal/base/pemkey"
	"go.landscaper.dev/internal/cluster/egress"
)

// ErrRedirect is behind errors about a redirect that the policy refuses.
var ErrRedirect = errors.New("refused by the redirect policy")

// Redirects says where a registry may send its clients to. Credentials never go
// along.
type Redirects struct {
	// Refuse allows no redirect to another host.
	Refuse bool
	// Hosts, if not empty, are the only other hosts that are allowed. A name that
	// begins with a dot stands for all hosts below it.
	Hosts []string
}

// maxRedirects is how often one request may be redirected.
const maxRedirects = 5

// Pool holds connections to registries. It is shared by all clients of a process.
type Pool struct {
	policy   egress.Policy
	timeouts Timeouts
	outages  *Outages
	mu       sync.Mutex
	reaches  map[trust]*reach
	schemes  map[string]auth.Scheme
	plain    map[string]bool
}

type trust struct {
	authorities string
	insecure    bool
}

// NewPool returns a pool without connections, which connects only to hosts that the policy allows.
func NewPool(policy egress.Policy, timeouts Timeouts) *Pool {
	return &Pool{
		policy: policy, timeouts: timeouts, outages: NewOutages(timeouts.Outage, time.Now),
		reaches: map[trust]*reach{}, schemes: map[string]auth.Scheme{}, plain: map[string]bool{},
	}
}

// Close ends the connections that are idle.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, known := range p.reaches {
		known.close()
	}
}

// maxHosts bounds how many hosts are remembered with how they are reached: one request
// finds that out again.
const maxHosts = 10_000

// maxHost is how long the name of a host with its port can be.
const maxHost = 300

// note remembers something of a host. If there are too many, all are forgotten.
func note[T any](known map[string]T, host string, value T) {
	if len(host) > maxHost {
		return
	}
	if len(known) >= maxHosts {
		clear(known)
	}
	known[host] = value
}

// maxReaches bounds how many sets of authorities are kept apart.
const maxReaches = 100

func (p *Pool) reach(t trust) (*reach, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known, exists := p.reaches[t]; exists {
		return known, nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.insecure} //nolint:gosec // the administrator's choice
	if t.authorities != "" {
		pool, err := x509.SystemCertPool()
		if err != nil {
			pool = x509.NewCertPool()
		}
		if err := pemkey.CheckAll([]byte(t.authorities)); err != nil {
			return nil, fmt.Errorf("the certificate authority: %w", err)
		}
		if !pool.AppendCertsFromPEM([]byte(t.authorities)) {
			return nil, errors.New("the certificate authority is no PEM certificate")
		}
		config.RootCAs = pool
	}
	if len(p.reaches) >= maxReaches {
		for old, known := range p.reaches {
			known.close()
			delete(p.reaches, old)
			break
		}
	}
	// A registry outside must not reach what users may reach; the proxy is the operator's.
	added := &reach{home: p.transport(p.policy, config), outside: p.transport(p.policy.Outside(), config.Clone())}
	p.reaches[t] = added
	return added, nil
}

func (p *Pool) transport(policy egress.Policy, trust *tls.Config) *http.Transport {
	transport := policy.Transport(egress.Timeouts{Connect: p.timeouts.Connect, Answer: p.timeouts.Answer})
	transport.TLSClientConfig = trust
	return transport
}

// reach is how far requests go.
type reach struct {
	// home leads to registries, outside to the places that a registry outside has named:
	// not to this machine or its neighbours, wherever a name leads.
	home, outside *http.Transport
}

func (r *reach) close() {
	r.home.CloseIdleConnections()
	r.outside.CloseIdleConnections()
}

// guard sends credentials only to their registry, and requests only where the policy allows them.
type guard struct {
	// next leads to the registry, outside to what a registry outside has named.
	next, outside http.RoundTripper

	scheme     string
	host       string
	tokenHosts []string
	redirects  Redirects
	watch      Watch
}

// RoundTrip implements http.RoundTripper.
func (g *guard) RoundTrip(request *http.Request) (*http.Response, error) {
	redirected := request.Response != nil
	if g.home(request.URL) || (!redirected && g.tokenHost(request.URL)) {
		return g.send(g.next, request)
	}
	if redirected {
		if err := g.checkRedirect(request); err != nil {
			return nil, err
		}
		request = request.Clone(request.Context())
		request.Header.Del("Authorization")
		request.Header.Del("Cookie")
		request.Header.Del("Referer")
		return g.elsewhere(request)
	}
	// An address that the registry named: the server of its tokens, or the place
	// of an upload.
	if request.Header.Get("Authorization") != "" || hasBody(request) {
		return nil, fmt.Errorf("registry %s asks to send credentials or content to %s, which is another host: add it to the token hosts of the registry if that is right: %w", g.host, request.URL.Host, ErrRedirect)
	}
	// What answers there becomes a token that the registry gets.
	if why := g.unsafe(request.URL); why != "" {
		return nil, fmt.Errorf("registry %s sends us to %s: %s: %w", g.host, request.URL.Host, why, ErrRedirect)
	}
	return g.elsewhere(request)
}

// elsewhere sends a request to where the registry sends us.
func (g *guard) elsewhere(request *http.Request) (*http.Response, error) {
	if home := (&url.URL{Host: g.host}); internal(home.Hostname()) {
		return g.send(g.next, request)
	}
	response, err := g.send(g.outside, request)
	var refused *egress.Refused
	if errors.As(err, &refused) {
		return nil, fmt.Errorf("connect to %s, where a registry sends us: the host is an internal address: %w: %w", request.URL.Host, ErrRedirect, refused)
	}
	return response, err
}

func hasBody(request *http.Request) bool {
	return request.Body != nil && request.Body != http.NoBody
}

func (g *guard) home(address *url.URL) bool {
	return address.Scheme == g.scheme && strings.EqualFold(withPort(address.Scheme, address.Host), withPort(g.scheme, g.host))
}

func withPort(scheme, host string) string {
	if _, _, err := net.SplitHostPort(host); err == nil {
		return host
	}
	if scheme == "http" {
		return host + ":80"
	}
	return host + ":443"
}

// tokenHost reports whether credentials may be exchanged for tokens there: on the same machine, or
// on a configured host.
func (g *guard) tokenHost(address *url.URL) bool {
	if address.Scheme != g.scheme && address.Scheme != "https" {
		return false
	}
	if slices.Contains(g.tokenHosts, strings.ToLower(address.Host)) {
		return true
	}
	home := url.URL{Host: g.host}
	return strings.EqualFold(address.Hostname(), home.Hostname())
}

func (g *guard) checkRedirect(request *http.Request) error {
	to := request.URL
	refuse := func(why string) error {
		return fmt.Errorf("registry %s redirects to %s: %s: %w", g.host, to.Host, why, ErrRedirect)
	}
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		return refuse("only reading may be redirected")
	}
	if why := g.unsafe(to); why != "" {
		return refuse(why)
	}
	if g.redirects.Refuse {
		return refuse("redirects to other hosts are switched off")
	}
	if len(g.redirects.Hosts) > 0 && !slices.ContainsFunc(g.redirects.Hosts, func(allowed string) bool {
		if strings.HasPrefix(allowed, ".") {
			return strings.HasSuffix(strings.ToLower(to.Hostname()), strings.ToLower(allowed))
		}
		return strings.EqualFold(allowed, to.Host) || strings.EqualFold(allowed, to.Hostname())
	}) {
		return refuse("the host is not one of those allowed")
	}
	return nil
}

// unsafe says why a registry may not send us to an address, whatever for; "" if it may.
func (g *guard) unsafe(to *url.URL) string {
	if to.Scheme != "https" && (to.Scheme != "http" || g.scheme != "http") {
		return "the connection would no longer be encrypted"
	}
	home := url.URL{Host: g.host}
	if internal(to.Hostname()) && !internal(home.Hostname()) {
		return "the host is an internal address"
	}
	return ""
}

// internal reports whether a host is an address of this machine or its network.
func internal(host string) bool {
	address := net.ParseIP(host)
	if address == nil {
		return strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost")
	}
	return address.IsLoopback() || address.IsPrivate() || address.IsLinkLocalUnicast() || address.IsUnspecified()
}

func (g *guard) send(next http.RoundTripper, request *http.Request) (*http.Response, error) {
	// An answer that is not a content is small, however slowly it arrives.
	total := time.Duration(0)
	if !strings.Contains(request.URL.Path, "/blobs/") {
		total = 3 * g.watch.Timeouts.Stall
	}
	return g.watch.Send(next, request, total)
}

// TransportWith returns a transport of its own that trusts further certificate
// authorities (PEM).
func TransportWith(authorities string) (*http.Transport, error) {
	reach, err := NewPool(egress.Unrestricted(), DefaultTimeouts()).reach(trust{authorities: authorities})
	if err != nil {
		return nil, err
	}
	return reach.home, nil
}
