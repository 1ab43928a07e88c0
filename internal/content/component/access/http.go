package access

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.landscaper.dev/internal/base/pemkey"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/content/component/repository"
)

// HTTPOptions say how what is not in a registry is reached.
type HTTPOptions struct {
	// Egress says where connections may lead to.
	Egress egress.Policy
	// Timeouts end exchanges with servers that do not answer.
	Timeouts registry.Timeouts
	// Authorities are further certificate authorities (PEM).
	Authorities string
	// InsecureSkipVerify does not check certificates.
	InsecureSkipVerify bool
}

// NewHTTPClient returns a client for what users may name.
func NewHTTPClient(options HTTPOptions) (*http.Client, error) {
	transport := options.Egress.Transport(egress.Timeouts{Connect: options.Timeouts.Connect, Answer: options.Timeouts.Answer})
	transport.TLSClientConfig.InsecureSkipVerify = options.InsecureSkipVerify // the choice of the operator
	if options.Authorities != "" {
		var err error
		if transport.TLSClientConfig.RootCAs, err = withAuthorities(nil, options.Authorities); err != nil {
			return nil, err
		}
	}
	watch := registry.Watch{Timeouts: options.Timeouts, Outages: registry.NewOutages(options.Timeouts.Outage, time.Now)}
	return &http.Client{Transport: &stallTransport{next: transport, watch: watch}}, nil
}

// withAuthorities returns a pool with further authorities; without one, they are
// added to those of the system.
func withAuthorities(pool *x509.CertPool, authorities string) (*x509.CertPool, error) {
	if pool != nil {
		pool = pool.Clone()
	} else if system, err := x509.SystemCertPool(); err == nil {
		pool = system
	} else {
		pool = x509.NewCertPool()
	}
	if err := pemkey.CheckAll([]byte(authorities)); err != nil {
		return nil, fmt.Errorf("the certificate authority: %w", err)
	}
	if !pool.AppendCertsFromPEM([]byte(authorities)) {
		return nil, errors.New("the certificate authority is no PEM certificate")
	}
	return pool, nil
}

// stallTransport waits for an answer as long as it comes steadily.
type stallTransport struct {
	next  *http.Transport
	watch registry.Watch
}

// RoundTrip implements http.RoundTripper.
func (t *stallTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	return t.watch.Send(t.next, request, 0) // the HTTP client tells method and address
}

// of returns the same transport for one tenant.
func (t *stallTransport) of(tenant string) *stallTransport {
	own := *t
	own.watch.Tenant = tenant
	return &own
}

// trusting returns the same transport for one exchange with servers whose
// certificates come from the given authorities (PEM), or those of the system.
func (t *stallTransport) trusting(authorities string) (*stallTransport, error) {
	next := t.next.Clone()
	pool, err := withAuthorities(next.TLSClientConfig.RootCAs, authorities)
	if err != nil {
		return nil, err
	}
	// Only this request uses the connections, so none is kept.
	next.DisableKeepAlives = true
	next.TLSClientConfig.RootCAs = pool
	return &stallTransport{next: next, watch: t.watch}, nil
}

// client returns a copy of the HTTP client that also trusts the given
// authorities, if there are any.
func (r *Reader) client(authorities string) (*http.Client, error) {
	client := *r.HTTP
	transport, ok := client.Transport.(*stallTransport)
	switch {
	case !ok && authorities != "":
		return nil, errors.New("certificate authorities of credentials cannot be used with this HTTP client")
	case !ok:
		return &client, nil
	}
	if authorities != "" {
		var err error
		if transport, err = transport.trusting(authorities); err != nil {
			return nil, err
		}
	}
	client.Transport = transport.of(r.Tenant)
	return &client, nil
}

type request struct {
	consumer   string
	url        string
	method     string
	header     map[string][]string
	body       string
	noRedirect bool
	// authorities are certificate authorities (PEM) beside those of the credentials.
	authorities string
}

// response is what a server answered.
type response struct {
	io.ReadCloser
	header http.Header
	// size is zero if it is not known.
	size int64
}

// blob returns the answer as a content.
func (r *response) blob(mediaType string) *repository.Blob {
	return &repository.Blob{ReadCloser: r.ReadCloser, MediaType: mediaType, Size: r.size}
}

// fetch sends a request. Neither credentials nor given headers follow a redirect
// to another host.
func (r *Reader) fetch(ctx context.Context, wanted request) (*response, error) {
	address, err := url.Parse(wanted.url)
	if err != nil || address.Host == "" || (address.Scheme != "https" && address.Scheme != "http") {
		return nil, fmt.Errorf("%q is not an address with http or https", repository.Redact(wanted.url))
	}
	method := firstOf(wanted.method, http.MethodGet)
	sent, err := http.NewRequestWithContext(ctx, method, address.String(), strings.NewReader(wanted.body))
	if err != nil {
		return nil, fmt.Errorf("fetch from %s: %w", address.Host, err)
	}
	for name, values := range wanted.header {
		sent.Header[http.CanonicalHeaderKey(name)] = values
	}
	found := r.Credentials.Find(credential.ForURL(wanted.consumer, address))
	switch {
	case found[credential.Token] != "":
		sent.Header.Set("Authorization", "Bearer "+found[credential.Token])
	case found[credential.Username] != "":
		sent.SetBasicAuth(found[credential.Username], found[credential.Password])
	}
	return r.send(sent, firstOf(wanted.authorities, found[credential.Authority]), wanted.noRedirect)
}

func (r *Reader) send(sent *http.Request, authorities string, noRedirect bool) (*response, error) {
	fail := func(err error) (*response, error) {
		return nil, fmt.Errorf("fetch from %s: %w", sent.URL.Host, err)
	}
	if r.HTTP == nil {
		return fail(errors.New("downloads are switched off"))
	}
	client, err := r.client(authorities)
	if err != nil {
		return fail(err)
	}
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if noRedirect {
			return http.ErrUseLastResponse
		}
		return follow(next, via)
	}
	answer, err := client.Do(sent)
	if err != nil {
		// The error repeats the address, whose query may be a credential.
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return fail(err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		_, err := fail(&StatusError{Code: answer.StatusCode})
		return nil, errors.Join(err, answer.Body.Close())
	}
	return &response{ReadCloser: answer.Body, header: answer.Header, size: max(answer.ContentLength, 0)}, nil
}

const maxRedirects = 5

func follow(next *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("redirected more than %d times", maxRedirects)
	case first.Scheme == "https" && next.URL.Scheme != "https":
		return errors.New("redirected to a connection that is not encrypted")
	case next.URL.Host != first.Host || next.URL.Scheme != first.Scheme:
		// Another host gets the headers about the document, but none about the caller.
		kept := http.Header{}
		for _, name := range []string{headerEncoding, headerValidator} {
			if value := next.Header.Get(name); value != "" {
				kept.Set(name, value)
			}
		}
		next.Header = kept //nolint:gosec // credentials are not among them
	}
	return nil
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func (r *Reader) gitHub(ctx context.Context, _ *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	var spec struct {
		RepoURL     string `json:"repoUrl"`
		APIHostname string `json:"apiHostname"`
		Commit      string `json:"commit"`
		Ref         string `json:"ref"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	location := spec.RepoURL
	if !strings.Contains(location, "://") {
		location = "https://" + location
	}
	address, err := url.Parse(location)
	if err != nil || address.Host == "" {
		return nil, fmt.Errorf("%q is not a repository", repository.Redact(spec.RepoURL))
	}
	parts := strings.Split(strings.Trim(strings.TrimSuffix(address.Path, ".git"), "/"), "/")
	revision := firstOf(spec.Commit, spec.Ref)
	if len(parts) != 2 || revision == "" {
		return nil, fmt.Errorf("an access of type gitHub needs a repoUrl of the form host/owner/repository and a commit, got %q", repository.Redact(spec.RepoURL))
	}
	api := url.URL{Scheme: address.Scheme, Host: address.Host, Path: "/api/v3"}
	switch {
	case spec.APIHostname != "":
		api = url.URL{Scheme: address.Scheme, Host: spec.APIHostname, Path: "/"}
	case address.Host == "github.com":
		api = url.URL{Scheme: "https", Host: "api.github.com", Path: "/"}
	}
	archiveAt := api.JoinPath("repos", parts[0], parts[1], "tarball", revision)
	found, err := r.fetch(ctx, request{consumer: credential.TypeGitHub, url: archiveAt.String()})
	if err != nil {
		return nil, err
	}
	return found.blob("application/x-tgz"), nil
}
