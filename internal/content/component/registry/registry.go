// Package registry reads and writes artifacts in OCI registries.
package registry

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	orascontent "oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	orasregistry "oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/oci"
)

// ErrDenied is behind errors about credentials that are missing, wrong or not
// sufficient.
var ErrDenied = errors.New("the registry denies access: check the credentials for this host")

// DeniedError is an ErrDenied with the host that refused the caller.
type DeniedError struct {
	Host string
	// Given reports that credentials were sent; Withheld that there are some for the host, and that
	// they were not sent because they are for another port or for encrypted connections.
	Given, Withheld bool
	cause           error
}

// Error implements error.
func (e *DeniedError) Error() string { return fmt.Sprintf("%v: %v", ErrDenied, e.cause) }

// Unwrap makes it one of ErrDenied and of its cause.
func (e *DeniedError) Unwrap() []error { return []error{ErrDenied, e.cause} }

// Options say how registries are reached.
type Options struct {
	// Tenant identifies the caller: what one tenant finds out about a host does not hold for others.
	Tenant string
	// Credentials are those of the caller.
	Credentials *credential.Store
	// AllowPlainHTTP reaches a host without a scheme by HTTP if it cannot do HTTPS.
	AllowPlainHTTP bool
	// InsecureSkipVerify does not check certificates.
	InsecureSkipVerify bool
	// Authorities are further certificate authorities (PEM).
	Authorities string
	// Redirects say where a registry may send us to.
	Redirects Redirects
	// TokenHosts are further hosts that may see the credentials of a registry, because they issue its
	// tokens.
	TokenHosts map[string][]string
}

// wellKnownTokenHosts are the token servers of public registries that have
// another name.
func wellKnownTokenHosts(host string) []string {
	switch host {
	case "registry-1.docker.io":
		return []string{"auth.docker.io"}
	case "registry.gitlab.com":
		return []string{"gitlab.com"}
	}
	return nil
}

// Client reaches registries with the credentials of one tenant.
type Client struct {
	pool    *Pool
	options Options
	mu      sync.Mutex
	clients map[string]*auth.Client
}

// NewClient returns a client that uses the connections of a pool.
func NewClient(pool *Pool, options Options) *Client {
	return &Client{pool: pool, options: options, clients: map[string]*auth.Client{}}
}

// Registry is a registry as a client sees it.
type Registry struct {
	client *Client
	scheme string
	host   string
}

// Registry returns the registry at a host. The scheme is http, https or empty.
func (c *Client) Registry(scheme, host string) *Registry {
	if host == "docker.io" || host == "index.docker.io" {
		host = "registry-1.docker.io"
	}
	return &Registry{client: c, scheme: scheme, host: strings.ToLower(host)}
}

// Name distinguishes registries.
func (r *Registry) Name() string {
	if r.scheme == "http" {
		return "http://" + r.host
	}
	return "https://" + r.host
}

// Scheme is how it is reached, as far as that is known before a request.
func (r *Registry) Scheme() string { return cmp.Or(r.scheme, "https") }

// repository returns a client for one repository.
func (r *Registry) repository(ctx context.Context, name string) (*remote.Repository, error) {
	reference := orasregistry.Reference{Registry: r.host, Repository: name}
	if err := reference.Validate(); err != nil {
		return nil, fmt.Errorf("%s/%s is not a name of a repository: %w", r.host, name, err)
	}
	scheme := r.scheme
	if scheme == "" {
		scheme = "https"
		if r.client.options.AllowPlainHTTP {
			scheme = r.client.detect(ctx, r.host)
		}
	}
	client, err := r.client.authClient(scheme, r.host, name)
	if err != nil {
		return nil, fmt.Errorf("reach registry %s: %w", r.host, err)
	}
	return &remote.Repository{
		Client: client, Reference: reference, PlainHTTP: scheme == "http", MaxMetadataBytes: oci.MaxManifest,
		ManifestMediaTypes: []string{ocispec.MediaTypeImageManifest, ocispec.MediaTypeImageIndex, oci.MediaTypeDockerManifest, oci.MediaTypeDockerIndex},
	}, nil
}

// detect finds out whether a host can do HTTPS. Nothing secret is sent.
func (c *Client) detect(ctx context.Context, host string) string {
	c.pool.mu.Lock()
	plain, known := c.pool.plain[host]
	c.pool.mu.Unlock()
	if !known {
		reach, err := c.pool.reach(trust{authorities: c.options.Authorities, insecure: c.options.InsecureSkipVerify})
		if err != nil {
			return "https"
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/v2/", nil)
		if err != nil {
			return "https"
		}
		response, err := reach.home.RoundTrip(request)
		if err == nil {
			_ = response.Body.Close()
		}
		var noTLS tls.RecordHeaderError
		plain = errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &noTLS)
		if err == nil || plain {
			c.pool.mu.Lock()
			note(c.pool.plain, host, plain)
			c.pool.mu.Unlock()
		}
	}
	if plain {
		return "http"
	}
	return "https"
}

// authClient returns the HTTP client for a repository. Repositories with the
// same credentials share it, and so their tokens.
func (c *Client) authClient(scheme, host, repository string) (*auth.Client, error) {
	properties := c.options.Credentials.Find(credential.Request{Type: credential.TypeOCIRegistry, Scheme: scheme, Host: host, Path: repository})
	key := scheme + "://" + host + " " + properties.Fingerprint()
	c.mu.Lock()
	defer c.mu.Unlock()
	if client, exists := c.clients[key]; exists {
		return client, nil
	}
	authorities := c.options.Authorities
	if own := properties[credential.Authority]; own != "" {
		authorities = own
	}
	reach, err := c.pool.reach(trust{authorities: authorities, insecure: c.options.InsecureSkipVerify})
	if err != nil {
		return nil, err
	}
	login := auth.Credential{
		Username: properties[credential.Username], Password: properties[credential.Password],
		RefreshToken: properties[credential.IdentityToken], AccessToken: properties[credential.RegistryToken],
	}
	client := &auth.Client{
		Client: &http.Client{
			Transport: &guard{
				next: reach.home, outside: reach.outside, scheme: scheme, host: host, redirects: c.options.Redirects,
				watch:      Watch{Timeouts: c.pool.timeouts, Outages: c.pool.outages, Tenant: c.options.Tenant},
				tokenHosts: append(wellKnownTokenHosts(host), c.options.TokenHosts[host]...),
			},
			CheckRedirect: func(_ *http.Request, via []*http.Request) error {
				if len(via) > maxRedirects {
					return fmt.Errorf("registry %s redirects more than %d times: %w", host, maxRedirects, ErrRedirect)
				}
				return nil
			},
		},
		Credential: func(_ context.Context, asked string) (auth.Credential, error) {
			if !strings.EqualFold(asked, host) {
				return auth.EmptyCredential, nil
			}
			return login, nil
		},
		Cache: &tokens{Cache: auth.NewCache(), pool: c.pool, login: login},
	}
	client.SetUserAgent("landscaper")
	c.clients[key] = client
	return client, nil
}

// tokens remembers the tokens of a client. The way to log in to a registry is not secret: all
// clients share it, which saves each of them the first refusal.
type tokens struct {
	auth.Cache
	pool  *Pool
	login auth.Credential
}

// GetScheme implements auth.Cache.
func (t *tokens) GetScheme(ctx context.Context, registry string) (auth.Scheme, error) {
	if scheme, err := t.Cache.GetScheme(ctx, registry); err == nil {
		return scheme, nil
	}
	t.pool.mu.Lock()
	defer t.pool.mu.Unlock()
	if scheme, known := t.pool.schemes[registry]; known {
		return scheme, nil
	}
	return auth.SchemeUnknown, errdef.ErrNotFound
}

// GetToken implements auth.Cache.
func (t *tokens) GetToken(ctx context.Context, registry string, scheme auth.Scheme, key string) (string, error) {
	token, err := t.Cache.GetToken(ctx, registry, scheme, key)
	if err != nil && scheme == auth.SchemeBasic && t.login.Username != "" {
		return base64.StdEncoding.EncodeToString([]byte(t.login.Username + ":" + t.login.Password)), nil
	}
	return token, err // the client of the library judges it
}

// Set implements auth.Cache.
func (t *tokens) Set(ctx context.Context, registry string, scheme auth.Scheme, key string, fetch func(context.Context) (string, error)) (string, error) {
	t.pool.mu.Lock()
	note(t.pool.schemes, registry, scheme)
	t.pool.mu.Unlock()
	return t.Cache.Set(ctx, registry, scheme, key, fetch) // the client of the library judges it
}

// Resolve implements oci.Store.
func (r *Registry) Resolve(ctx context.Context, name, reference string) (ocispec.Descriptor, error) {
	repository, err := r.repository(ctx, name)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	manifest, err := repository.Manifests().Resolve(ctx, reference)
	if err != nil {
		return ocispec.Descriptor{}, r.explain(err, "find "+name+":"+reference)
	}
	if err := oci.CheckDescriptor(manifest); err != nil {
		return ocispec.Descriptor{}, r.explain(err, "find "+name+":"+reference)
	}
	return manifest, nil
}

// Open implements oci.Store.
func (r *Registry) Open(ctx context.Context, name string, content ocispec.Descriptor) (io.ReadCloser, error) {
	what := "read " + content.Digest.String() + " of " + name
	if err := content.Digest.Validate(); err != nil {
		return nil, fmt.Errorf("digest %.80q: %w", content.Digest, err)
	}
	repository, err := r.repository(ctx, name)
	if err != nil {
		return nil, err
	}
	var from interface {
		orascontent.Fetcher
		orascontent.Resolver
	} = repository.Blobs()
	if oci.IsManifest(content.MediaType) {
		from = repository.Manifests()
	}
	if content.Size < 0 {
		found, err := from.Resolve(ctx, content.Digest.String())
		if err != nil {
			return nil, r.explain(err, what)
		}
		content.Size = found.Size
	}
	reader, err := from.Fetch(ctx, content)
	if err != nil {
		return nil, r.explain(err, what)
	}
	return oci.Verified(&explaining{ReadCloser: reader, explain: func(err error) error { return r.explain(err, what) }}, content)
}

// explaining says what was being read when it ends before its time.
type explaining struct {
	io.ReadCloser
	explain func(error) error
}

// Read implements io.Reader.
func (e *explaining) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = e.explain(fmt.Errorf("the connection was cut: %w", err))
	case err != nil && !errors.Is(err, io.EOF):
		err = e.explain(err)
	}
	return n, err
}

// Push implements oci.Target.
func (r *Registry) Push(ctx context.Context, name string, content ocispec.Descriptor, data io.Reader) error {
	repository, err := r.repository(ctx, name)
	if err != nil {
		return err
	}
	ctx = auth.AppendRepositoryScope(ctx, repository.Reference, auth.ActionPull, auth.ActionPush)
	exists, err := repository.Exists(ctx, content)
	if err == nil && exists {
		return nil
	}
	if err == nil {
		err = repository.Push(ctx, content, data)
	}
	if err != nil && !errors.Is(err, errdef.ErrAlreadyExists) {
		return r.explain(err, "write "+content.Digest.String()+" to "+name)
	}
	return nil
}

// Tag implements oci.Target.
func (r *Registry) Tag(ctx context.Context, name string, manifest ocispec.Descriptor, tag string) error {
	repository, err := r.repository(ctx, name)
	if err != nil {
		return err
	}
	raw, err := oci.Read(ctx, r, name, manifest, oci.MaxManifest)
	if err != nil {
		return err
	}
	if err := repository.PushReference(ctx, manifest, bytes.NewReader(raw), tag); err != nil {
		return r.explain(err, "tag "+name+":"+tag)
	}
	return nil
}

// explain says what was being done, and sorts errors into those that callers distinguish.
func (r *Registry) explain(err error, what string) error {
	var answer *errcode.ErrorResponse
	switch {
	case errors.As(err, &answer) && answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s in registry %s: %w: %w", what, r.host, oci.ErrNotFound, err)
	case errors.Is(err, errdef.ErrNotFound):
		return fmt.Errorf("%s in registry %s: %w", what, r.host, oci.ErrNotFound)
	case errors.As(err, &answer) && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden),
		errors.Is(err, auth.ErrBasicCredentialNotFound):
		sent := credential.Request{Type: credential.TypeOCIRegistry, Scheme: r.reachedBy(), Host: r.host}
		known := r.client.options.Credentials
		return fmt.Errorf("%s in registry %s: %w", what, r.host, &DeniedError{Host: r.host, Given: known.Find(sent) != nil, Withheld: known.Withheld(sent), cause: err})
	}
	return fmt.Errorf("%s in registry %s: %w", what, r.host, err)
}

// reachedBy returns the scheme over which the registry was reached.
func (r *Registry) reachedBy() string {
	if r.scheme != "" || !r.client.options.AllowPlainHTTP {
		return cmp.Or(r.scheme, "https")
	}
	r.client.pool.mu.Lock()
	defer r.client.pool.mu.Unlock()
	if r.client.pool.plain[r.host] {
		return "http"
	}
	return "https"
}
