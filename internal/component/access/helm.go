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

	"go.landscaper.dev/internal/component/archive"
	"go.landscaper.dev/internal/component/credential"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/oci"
	"go.landscaper.dev/internal/component/repository"
)

const chartMediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"

func (r *Reader) helm(ctx context.Context, version *repository.Version, access descriptor.Typed, _ int) (*repository.Blob, error) {
	var spec struct {
		Repository string `json:"helmRepository"`
		Chart      string `json:"helmChart"`
		Version    string `json:"version"`
		CACert     string `json:"caCert"`
	}
	if err := access.Decode(&spec); err != nil {
		return nil, err
	}
	chart, inName, _ := strings.Cut(spec.Chart, ":")
	wanted := firstOf(spec.Version, inName)
	if strings.HasPrefix(spec.Repository, "oci://") {
		return r.chartArtifact(ctx, version, strings.TrimSuffix(spec.Repository, "/")+"/"+chart+":"+strings.ReplaceAll(wanted, "+", "_"))
	}
	repository, err := NewChartRepository(spec.Repository)
	if err != nil {
		return nil, err
	}
	found, err := r.chartVersion(ctx, repository, chart, wanted, spec.CACert)
	if err != nil {
		return nil, err
	}
	return r.chart(ctx, version, repository, found, spec.CACert)
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
	at, err := from.at(found.URLs[0])
	switch {
	case err != nil:
		return fail(errors.New("the index has an address that is none"))
	case at.Scheme == "oci":
		return r.chartArtifact(ctx, version, at.String())
	case from.address.Scheme == "https" && at.Scheme == "http":
		return fail(errors.New("the index leads to a connection that is not encrypted"))
	}
	if !from.owns(at) {
		authorities = ""
	}
	data, err := r.document(ctx, request{consumer: credential.TypeHelmRepository, url: at.String(), authorities: authorities}, archive.DefaultLimits().Bytes)
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
		return ChartRepository{}, fmt.Errorf("%q is no address of a chart repository with http or https", repository.Redact(text))
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

// index returns the address of the index.
func (c ChartRepository) index() string { return c.address.JoinPath("index.yaml").String() }

// at returns the address that the index gives for a chart. As Helm does it, the query
// of the repository goes along to what is relative to it.
func (c ChartRepository) at(text string) (*url.URL, error) {
	address, err := url.Parse(text)
	if err != nil || address.IsAbs() || address.Host != "" || address.RawQuery != "" {
		return c.address.Parse(text)
	}
	address = c.address.ResolveReference(address)
	address.RawQuery = c.address.RawQuery
	return address, nil
}
