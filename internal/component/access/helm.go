package access

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"go.landscaper.dev/internal/component/archive"
	"go.landscaper.dev/internal/component/credential"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/repository"
	"go.landscaper.dev/internal/yamltext"
)

// chartIndexLimits bound the index of a chart repository.
func chartIndexLimits() yamltext.Limits {
	limits := yamltext.Lenient()
	limits.Text, limits.Bytes = 16<<20, 16<<20
	return limits
}

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
	address, err := r.chartAddress(ctx, base, chart, wanted, spec.CACert)
	if err != nil {
		return nil, err
	}
	found, err := r.fetch(ctx, request{consumer: credential.TypeHelmRepository, url: address, authorities: spec.CACert})
	if err != nil {
		return nil, err
	}
	return found.blob(chartMediaType), nil
}

// chartAddress looks a chart up in the index of its repository.
func (r *Reader) chartAddress(ctx context.Context, base, chart, version, authorities string) (string, error) {
	body, err := r.fetch(ctx, request{consumer: credential.TypeHelmRepository, url: base + "index.yaml", authorities: authorities})
	if err != nil {
		return "", err
	}
	defer body.Close() //nolint:errcheck // nothing is written
	raw, err := archive.ReadAll(body, int64(chartIndexLimits().Text))
	if err != nil {
		return "", fmt.Errorf("read the index of chart repository %s: %w", repository.Redact(base), err)
	}
	var index chartIndex
	if err := yamltext.Unmarshal(raw, chartIndexLimits(), &index); err != nil {
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

// chartIndex is what we need of the index of a chart repository.
type chartIndex struct {
	Entries map[string][]struct {
		Version string   `json:"version"`
		URLs    []string `json:"urls"`
	} `json:"entries"`
}
