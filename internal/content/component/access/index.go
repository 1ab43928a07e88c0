package access

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/Masterminds/semver/v3"
	"github.com/opencontainers/go-digest"

	"go.landscaper.dev/internal/base/suggest"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component/cache"
	"go.landscaper.dev/internal/content/component/credential"
	"go.landscaper.dev/internal/content/component/oci"
)

// chartIndexLimits bound the index of a chart repository.
func chartIndexLimits() yamltext.Limits {
	limits := yamltext.Lenient()
	limits.Text, limits.Bytes = 16<<20, 16<<20
	return limits
}

// chartIndex is what we need of the index of a chart repository.
type chartIndex struct {
	Entries map[string][]chartVersion `json:"entries"`
}

// chartVersion is one version of a chart.
type chartVersion struct {
	name    string
	Version string   `json:"version"`
	URLs    []string `json:"urls"`
	// Digest is the SHA-256 of the archive; repositories may omit it.
	Digest string `json:"digest"`
}

// digest returns the digest of the archive, "" if the index has none that can be one.
func (v chartVersion) digest() digest.Digest {
	sum := digest.NewDigestFromEncoded(digest.SHA256, strings.ToLower(strings.TrimPrefix(v.Digest, "sha256:")))
	if sum.Validate() != nil {
		return ""
	}
	return sum
}

// chartVersion looks a chart up in the index of its repository; in what the server
// delivers now if anew.
func (r *Reader) chartVersion(ctx context.Context, from ChartRepository, spec chartAccess, anew bool) (chartVersion, error) {
	chart, version := spec.named()
	index := request{consumer: credential.TypeHelmRepository, url: from.index(), authorities: spec.CACert}
	text, err := r.document(ctx, index, cache.Wanted{Anew: anew}, int64(chartIndexLimits().Text))
	if err != nil {
		return chartVersion{}, fmt.Errorf("read the index of chart repository %s: %w", from, err)
	}
	found, err := r.Indexes.find(ctx, text, chart, version)
	if err != nil {
		return chartVersion{}, fmt.Errorf("chart repository %s: %w", from, err)
	}
	return found, nil
}

// Indexes reads indexes of chart repositories, which may be large, few at a time,
// and remembers what was looked for in them. Nil reads each of them again.
type Indexes struct {
	reading chan struct{}
	mu      sync.Mutex
	known   map[lookup]lookedUp
}

// lookup is a query to an index with this content, which the caller has read.
type lookup struct {
	index          digest.Digest
	chart, version string
}

type lookedUp struct {
	found chartVersion
	err   error
}

const (
	// readAtOnce is how many indexes are read at the same time: each may take some
	// hundred megabytes for a moment.
	readAtOnce = 2
	// maxLookups bounds how many answers are remembered, and maxNames how long the
	// names may be that were looked for.
	maxLookups = 1000
	maxNames   = 500
	// maxAddress bounds how long the address of a chart may be.
	maxAddress = 8 << 10
	// maxSuggested is how many names are compared with a wrong one.
	maxSuggested = 10_000
)

// NewIndexes returns a memory without contents.
func NewIndexes() *Indexes {
	return &Indexes{reading: make(chan struct{}, readAtOnce), known: map[lookup]lookedUp{}}
}

func (i *Indexes) find(ctx context.Context, text []byte, chart, version string) (chartVersion, error) {
	if i == nil {
		return findChart(text, chart, version)
	}
	key := lookup{index: digest.FromBytes(text), chart: chart, version: version}
	if known, exists := i.remembered(key); exists {
		return known.found, known.err
	}
	select {
	case i.reading <- struct{}{}:
		defer func() { <-i.reading }()
	case <-ctx.Done():
		return chartVersion{}, fmt.Errorf("wait until other indexes are read: %w", ctx.Err())
	}
	if known, exists := i.remembered(key); exists {
		return known.found, known.err
	}
	found, err := findChart(text, chart, version)
	if len(chart)+len(version) > maxNames {
		return found, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.known) >= maxLookups {
		clear(i.known)
	}
	i.known[key] = lookedUp{found: found, err: err}
	return found, err
}

func (i *Indexes) remembered(key lookup) (lookedUp, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	known, exists := i.known[key]
	return known, exists
}

// findChart looks for a version of a chart: the one with this text, or else the
// highest one that fits it as Helm takes it, such as 1.2.x.
func findChart(text []byte, chart, version string) (chartVersion, error) {
	var index chartIndex
	if err := yamltext.Unmarshal(text, chartIndexLimits(), &index); err != nil {
		return chartVersion{}, fmt.Errorf("decode the index: %w", err)
	}
	versions := slices.DeleteFunc(index.Entries[chart], func(v chartVersion) bool { return len(v.URLs) == 0 })
	found, exists := fitting(versions, version)
	if exists {
		if len(found.URLs[0]) > maxAddress || len(found.Digest) > maxNames || len(found.Version) > maxNames {
			return chartVersion{}, fmt.Errorf("chart %.100s has an address, a digest or a version that is too long", chart)
		}
		found.name, found.URLs = chart, found.URLs[:1:1]
		return found, nil
	}
	if len(versions) > 0 {
		return chartVersion{}, fmt.Errorf("it has no chart %.100s in version %.100s, but in %s: %w", chart, version, some(versions), oci.ErrNotFound)
	}
	names := slices.Sorted(maps.Keys(index.Entries))
	names = names[:min(len(names), maxSuggested)]
	hint := ""
	if meant := suggest.Name(chart, names); meant != "" {
		hint = fmt.Sprintf(", did you mean %.100s", meant)
	}
	return chartVersion{}, fmt.Errorf("it has no chart %.100s%s: %w", chart, hint, oci.ErrNotFound)
}

func fitting(versions []chartVersion, wanted string) (chartVersion, bool) {
	for _, v := range versions {
		if v.Version == wanted {
			return v, true
		}
	}
	constraint, err := semver.NewConstraint(wanted)
	if err != nil || wanted == "" {
		return chartVersion{}, false
	}
	var best chartVersion
	var highest *semver.Version
	for _, v := range versions {
		parsed, err := semver.NewVersion(v.Version)
		if err == nil && constraint.Check(parsed) && (highest == nil || parsed.GreaterThan(highest)) {
			best, highest = v, parsed
		}
	}
	return best, highest != nil
}

// some names a few versions.
func some(versions []chartVersion) string {
	const most = 5
	var names []string
	for _, v := range versions[:min(len(versions), most)] {
		names = append(names, fmt.Sprintf("%.50s", v.Version))
	}
	if len(versions) > most {
		names = append(names, "and others")
	}
	return strings.Join(names, ", ")
}
