package access

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/component/archive"
	"go.landscaper.dev/internal/component/credential"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/repository"
)

// maxChartIndex is the size of the largest index of a chart repository that is
// read.
const maxChartIndex = 64 << 20

// ErrInternal is behind errors about an address of this machine.
var ErrInternal = errors.New("addresses of this machine and its surroundings are refused")

// NewHTTPClient returns a client for what users may name. Unless internal is
// true, it reaches neither this machine nor services that only it can see.
func NewHTTPClient(internal bool, answer time.Duration) *http.Client {
	dialer := &net.Dialer{Timeout: answer}
	if !internal {
		// The check is on the address that a name has led to.
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			host, _, err := net.SplitHostPort(address)
			if ip := net.ParseIP(host); err != nil || ip == nil || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || ip.IsMulticast() {
				return fmt.Errorf("connect to %s: %w", address, ErrInternal)
			}
			return nil
		}
	}
	return &http.Client{Transport: &http.Transport{
		DialContext: dialer.DialContext, TLSHandshakeTimeout: answer, ResponseHeaderTimeout: answer,
		MaxResponseHeaderBytes: 1 << 20, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute,
	}}
}

type request struct {
	consumer   string
	url        string
	method     string
	header     map[string][]string
	body       string
	noRedirect bool
}

// fetch sends a request. Neither credentials nor given headers follow a redirect
// to another host.
func (r *Reader) fetch(ctx context.Context, wanted request) (io.ReadCloser, http.Header, error) {
	address, err := url.Parse(wanted.url)
	if err != nil || address.Host == "" || (address.Scheme != "https" && address.Scheme != "http") {
		return nil, nil, fmt.Errorf("%q is no address with http or https", repository.Redact(wanted.url))
	}
	if r.HTTP == nil {
		return nil, nil, fmt.Errorf("fetch from %s: downloads are switched off", address.Host)
	}
	method := wanted.method
	if method == "" {
		method = http.MethodGet
	}
	sent, err := http.NewRequestWithContext(ctx, method, address.String(), strings.NewReader(wanted.body))
	if err != nil {
		return nil, nil, fmt.Errorf("fetch from %s: %w", address.Host, err)
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
	client := *r.HTTP
	client.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		if wanted.noRedirect {
			return http.ErrUseLastResponse
		}
		return follow(next, via)
	}
	response, err := client.Do(sent) //nolint:bodyclose // whoever asked closes it
	if err != nil {
		// The error repeats the address, whose query may be a credential.
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, nil, fmt.Errorf("fetch from %s: %w", address.Host, err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, nil, errors.Join(fmt.Errorf("fetch from %s: the server answers %s", address.Host, response.Status), response.Body.Close())
	}
	return response.Body, response.Header, nil
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
		next.Header = http.Header{}
	}
	return nil
}

func (r *Reader) wget(ctx context.Context, _ *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	var spec struct {
		URL        string              `json:"url"`
		MediaType  string              `json:"mediaType"`
		Header     map[string][]string `json:"header"`
		Verb       string              `json:"verb"`
		Body       []byte              `json:"body"`
		NoRedirect bool                `json:"noRedirect"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	body, header, err := r.fetch(ctx, request{
		consumer: credential.TypeWget, url: spec.URL, method: spec.Verb, header: spec.Header, body: string(spec.Body), noRedirect: spec.NoRedirect,
	})
	if err != nil {
		return nil, err
	}
	return &repository.Blob{ReadCloser: body, MediaType: firstOf(spec.MediaType, header.Get("Content-Type"), "application/octet-stream")}, nil
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
		return nil, fmt.Errorf("%q is no repository", repository.Redact(spec.RepoURL))
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
	body, _, err := r.fetch(ctx, request{consumer: credential.TypeGitHub, url: archiveAt.String()})
	if err != nil {
		return nil, err
	}
	return &repository.Blob{ReadCloser: body, MediaType: "application/x-tgz"}, nil
}

const chartMediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

func (r *Reader) helm(ctx context.Context, version *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	var spec struct {
		Repository string `json:"helmRepository"`
		Chart      string `json:"helmChart"`
		Version    string `json:"version"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	chart, inName, _ := strings.Cut(spec.Chart, ":")
	wanted := firstOf(spec.Version, inName)
	if strings.HasPrefix(spec.Repository, "oci://") {
		reference, err := ParseReference(strings.TrimSuffix(spec.Repository, "/") + "/" + chart + ":" + strings.ReplaceAll(wanted, "+", "_"))
		if err != nil {
			return nil, err
		}
		return artifact(ctx, r.store(version, reference), reference)
	}
	base := spec.Repository
	if !strings.Contains(base, "://") {
		base = "https://" + base
	}
	base = strings.TrimSuffix(base, "/") + "/"
	address, err := r.chartAddress(ctx, base, chart, wanted)
	if err != nil {
		return nil, err
	}
	body, _, err := r.fetch(ctx, request{consumer: credential.TypeHelmRepository, url: address})
	if err != nil {
		return nil, err
	}
	return &repository.Blob{ReadCloser: body, MediaType: chartMediaType}, nil
}

// chartAddress looks a chart up in the index of its repository.
func (r *Reader) chartAddress(ctx context.Context, base, chart, version string) (string, error) {
	body, _, err := r.fetch(ctx, request{consumer: credential.TypeHelmRepository, url: base + "index.yaml"})
	if err != nil {
		return "", err
	}
	defer body.Close() //nolint:errcheck // nothing is written
	raw, err := archive.ReadAll(body, maxChartIndex)
	if err != nil {
		return "", fmt.Errorf("read the index of chart repository %s: %w", repository.Redact(base), err)
	}
	var index struct {
		Entries map[string][]struct {
			Version string   `json:"version"`
			URLs    []string `json:"urls"`
		} `json:"entries"`
	}
	if err := yaml.Unmarshal(raw, &index); err != nil {
		return "", fmt.Errorf("decode the index of chart repository %s: %w", repository.Redact(base), err)
	}
	for _, entry := range index.Entries[chart] {
		if entry.Version != version || len(entry.URLs) == 0 {
			continue
		}
		from, err := url.Parse(base)
		if err != nil {
			return "", fmt.Errorf("chart repository %s: %w", repository.Redact(base), err)
		}
		at, err := from.Parse(entry.URLs[0])
		if err != nil {
			return "", fmt.Errorf("chart %s %s in repository %s: %w", chart, version, repository.Redact(base), err)
		}
		return at.String(), nil
	}
	return "", fmt.Errorf("chart repository %s has no chart %s in version %s", repository.Redact(base), chart, version)
}
