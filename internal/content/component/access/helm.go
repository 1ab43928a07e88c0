package access

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

const chartMediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

// chartAccess is where a chart is that a resource names.
type chartAccess struct {
	Repository string `json:"helmRepository"`
	Chart      string `json:"helmChart"`
	Version    string `json:"version"`
	CACert     string `json:"caCert"`
}

// named returns the name and the version of the chart.
func (c chartAccess) named() (chart, version string) {
	chart, inName, _ := strings.Cut(c.Chart, ":")
	return chart, firstOf(c.Version, inName)
}

func (r *Reader) helm(ctx context.Context, version *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	var spec chartAccess
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	if strings.HasPrefix(spec.Repository, "oci://") {
		chart, wanted := spec.named()
		return r.chartArtifact(ctx, version, strings.TrimSuffix(spec.Repository, "/")+"/"+chart+":"+strings.ReplaceAll(wanted, "+", "_"))
	}
	repository, err := NewChartRepository(spec.Repository)
	if err != nil {
		return nil, err
	}
	found, err := r.chartVersion(ctx, repository, spec, false)
	if err != nil {
		return nil, err
	}
	blob, err := r.chart(ctx, version, repository, found, spec.CACert)
	if !errors.Is(err, oci.ErrDigest) {
		return blob, err
	}
	// The chart may have been published again after the index was read.
	now, readErr := r.chartVersion(ctx, repository, spec, true)
	if readErr != nil || now.digest() == found.digest() {
		return nil, err
	}
	return r.chart(ctx, version, repository, now, spec.CACert)
}

// ChartProvenance reads the provenance file next to a chart in a chart repository, of at most limit
// bytes; nothing if the chart is not in one.
func (r *Reader) ChartProvenance(ctx context.Context, access descriptor.Typed, limit int64) ([]byte, error) {
	var spec chartAccess
	if access.Kind() != "helm" {
		return nil, nil
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	from, err := NewChartRepository(spec.Repository)
	if err != nil {
		return nil, err
	}
	found, err := r.chartVersion(ctx, from, spec, false)
	if err != nil {
		return nil, err
	}
	at, err := from.of(found)
	if err != nil || at.Scheme == "oci" {
		return nil, err
	}
	return r.document(ctx, request{consumer: credential.TypeHelmRepository, url: beside(at).String(), authorities: from.authoritiesFor(at, spec.CACert)}, cache.Wanted{}, limit)
}

// beside returns the address of the provenance file of a chart.
func beside(chart *url.URL) *url.URL {
	next := *chart
	next.Path += ".prov"
	if next.RawPath != "" {
		next.RawPath += ".prov"
	}
	return &next
}

// Provenance reads what lies next to a chart at an address, of at most limit bytes.
func (r *Reader) Provenance(ctx context.Context, address string, limit int64) ([]byte, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address cannot be read")
	}
	return r.Download(ctx, beside(at).String(), limit)
}

// chartArtifact opens a chart that is in a registry.
func (r *Reader) chartArtifact(ctx context.Context, version *repository.Version, text string) (*repository.Blob, error) {
	reference, err := ParseReference(text)
	if err != nil {
		return nil, err
	}
	return artifact(ctx, r.store(version, reference), reference)
}

// chart opens a chart that an index has led to. Whatever the index says, credentials
// go only where they belong.
func (r *Reader) chart(ctx context.Context, version *repository.Version, from ChartRepository, found chartVersion, authorities string) (*repository.Blob, error) {
	fail := func(err error) (*repository.Blob, error) {
		return nil, fmt.Errorf("chart %s %s of chart repository %s: %w", found.name, found.Version, from, err)
	}
	at, err := from.of(found)
	switch {
	case err != nil:
		return fail(err)
	case at.Scheme == "oci":
		return r.chartArtifact(ctx, version, at.String())
	}
	authorities = from.authoritiesFor(at, authorities)
	// The index has just named the chart: it is not read again.
	wanted := cache.Wanted{Digest: found.digest()}
	data, err := r.document(ctx, request{consumer: credential.TypeHelmRepository, url: at.String(), authorities: authorities}, wanted, archive.DefaultLimits().Bytes)
	if err != nil {
		return fail(err)
	}
	if want := strings.ToLower(strings.TrimPrefix(found.Digest, "sha256:")); want != "" && digest.FromBytes(data).Encoded() != want {
		return fail(fmt.Errorf("what %s delivers is not the chart that the index describes: %w", at.Host, oci.ErrDigest))
	}
	return &repository.Blob{ReadCloser: io.NopCloser(bytes.NewReader(data)), MediaType: chartMediaType, Size: int64(len(data))}, nil
}

// ChartRepository is the address of a chart repository.
type ChartRepository struct{ address *url.URL }

// NewChartRepository reads the address of a chart repository. Without a scheme it is
// one of https.
func NewChartRepository(text string) (ChartRepository, error) {
	given := strings.TrimSpace(text)
	if !strings.Contains(given, "://") {
		given = "https://" + given
	}
	address, err := url.Parse(given)
	if err != nil || address.Host == "" || (address.Scheme != "https" && address.Scheme != "http") {
		return ChartRepository{}, fmt.Errorf("%q is not an address of a chart repository with http or https", repository.Redact(text))
	}
	return ChartRepository{address.JoinPath("/")}, nil
}

// String returns the address without credentials.
func (c ChartRepository) String() string {
	return repository.Redact(strings.TrimSuffix(c.address.String(), "/"))
}

// URL returns the address.
func (c ChartRepository) URL() url.URL { return *c.address }

// owns reports whether an address is on the host of the repository.
func (c ChartRepository) owns(at *url.URL) bool {
	return at.Scheme == c.address.Scheme && strings.EqualFold(at.Host, c.address.Host)
}

// authoritiesFor returns the authorities of the repository if an address is on its host.
func (c ChartRepository) authoritiesFor(at *url.URL, authorities string) string {
	if !c.owns(at) {
		return ""
	}
	return authorities
}

// of returns the address of a chart that the index names.
func (c ChartRepository) of(found chartVersion) (*url.URL, error) {
	at, err := c.at(found.URLs[0])
	if err != nil {
		return nil, errors.New("the index has an invalid address")
	}
	if c.address.Scheme == "https" && at.Scheme == "http" {
		return nil, errors.New("the index leads to a connection that is not encrypted")
	}
	return at, nil
}

// index returns the address of the index.
func (c ChartRepository) index() string { return c.address.JoinPath("index.yaml").String() }

// at returns the address that the index gives for a chart. As in Helm, a relative address keeps the
// query of the repository.
func (c ChartRepository) at(text string) (*url.URL, error) {
	address, err := url.Parse(text)
	if err != nil || address.IsAbs() || address.Host != "" || address.RawQuery != "" {
		return c.address.Parse(text)
	}
	address = c.address.ResolveReference(address)
	address.RawQuery = c.address.RawQuery
	return address, nil
}
