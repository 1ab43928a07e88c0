package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
)

// Media types of charts in registries.
const (
	chartConfig = "application/vnd.cncf.helm.config.v1+json"
	chartLayer  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	chartProof  = "application/vnd.cncf.helm.chart.provenance.v1.prov"
	chartFile   = "Chart.yaml"
)

// download reads what an address delivers.
func (p *publication) download(ctx context.Context, input *Input) (content, error) {
	return p.open(ctx, input, map[string]any{
		"type": "wget", "url": input.URL, "header": input.Header, "verb": input.Verb, "body": input.Body, "noRedirect": input.NoRedirect, "mediaType": input.MediaType,
	})
}

func (p *publication) open(ctx context.Context, input *Input, access map[string]any) (content, error) {
	if p.options.Open == nil {
		return content{}, fmt.Errorf("an input of type %q cannot be read here", input.Type)
	}
	typed, err := descriptor.NewTyped(access)
	if err != nil {
		return content{}, err // says what it did
	}
	blob, err := p.options.Open(ctx, typed)
	if err != nil {
		return content{}, err
	}
	found, err := spooled(blob)
	if err = errors.Join(err, blob.Close()); err != nil {
		return content{}, fmt.Errorf("input of type %q: %w", input.Type, err)
	}
	return found, nil
}

// chart stores a chart as the artifact that a registry would have.
func (p *publication) chart(ctx context.Context, input *Input) (content, error) {
	var packed, proof []byte
	var err error
	if input.HelmRepository != "" {
		packed, err = p.remoteChart(ctx, input)
	} else {
		packed, proof, err = input.packChart(p.options.Directory)
	}
	if err != nil {
		return content{}, fmt.Errorf("input of type %q: %w", input.Type, err)
	}
	metadata, about, err := chartMetadata(packed)
	if err != nil {
		return content{}, fmt.Errorf("input of type %q: %w", input.Type, err)
	}
	store := parts{}
	manifest := ocispec.Manifest{MediaType: ocispec.MediaTypeImageManifest, Config: store.put(chartConfig, metadata), Layers: []ocispec.Descriptor{store.put(chartLayer, packed)}}
	if proof != nil {
		manifest.Layers = append(manifest.Layers, store.put(chartProof, proof))
	}
	manifest.SchemaVersion = 2
	raw, err := json.Marshal(manifest)
	if err != nil {
		return content{}, fmt.Errorf("encode the manifest of a chart: %w", err)
	}
	at := store.put(ocispec.MediaTypeImageManifest, raw)
	tag := about.Version
	if input.Version != "" {
		tag = input.Version
	}
	tag = strings.ReplaceAll(tag, "+", "_")
	var out bytes.Buffer
	if err := oci.WriteSet(ctx, &out, store, "chart", at, tag); err != nil {
		return content{}, err // says what it did
	}
	name := input.hint(p.descriptor.Name)
	if name == "" {
		name = about.Name
	}
	if !strings.Contains(name, ":") {
		name += ":" + tag
	}
	packedSet := inMemory(out.Bytes(), oci.SetMediaType(at.MediaType))
	packedSet.artifact, packedSet.name = at.Digest.String(), name
	return packedSet, nil
}

// remoteChart returns the archive of a chart of a repository.
func (p *publication) remoteChart(ctx context.Context, input *Input) ([]byte, error) {
	authority := input.CACert
	if input.CACertFile != "" {
		text, err := readInput(p.options.Directory, input.CACertFile)
		if err != nil {
			return nil, fmt.Errorf("caCertFile: %w", err)
		}
		authority = string(text)
	}
	found, err := p.open(ctx, input, map[string]any{"type": "helm", "helmRepository": input.HelmRepository, "helmChart": input.Path, "version": input.Version, "caCert": authority})
	if err != nil {
		return nil, err
	}
	packed, err := archive.ReadAll(found.reader(0, found.size), maxInput)
	return packed, errors.Join(err, found.Close())
}

// packChart returns the archive of a chart: a file, with the signature that may be
// beside it, or a directory with the name of the chart around its files.
func (i *Input) packChart(base string) (packed, proof []byte, err error) {
	found, err := locate(base, i.Path)
	if err != nil {
		return nil, nil, err
	}
	info, err := os.Stat(found)
	if err != nil {
		return nil, nil, err // the caller says which
	}
	if info.IsDir() {
		packed, err = packChartDirectory(found)
		return packed, nil, err
	}
	if packed, err = readInput(base, i.Path); err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(found + ".prov"); err == nil {
		proof, err = readInput("", found+".prov")
		return packed, proof, err
	}
	return packed, nil, nil
}

func packChartDirectory(found string) ([]byte, error) {
	text, err := os.ReadFile(path.Join(found, chartFile)) // the user named it
	if err != nil {
		return nil, fmt.Errorf("%s is not a chart: %w", found, err)
	}
	_, about, err := decodeChart(text)
	if err != nil {
		return nil, err
	}
	plain, err := (&Input{FollowSymlinks: true}).packTree(found, about.Name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = archive.Gzip(&out, func(to io.Writer) error {
		_, err := to.Write(plain)
		return err // a buffer takes everything
	})
	return out.Bytes(), err // says what it did
}

// aboutChart is what a chart says about itself.
type aboutChart struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func decodeChart(text []byte) ([]byte, aboutChart, error) {
	var about aboutChart
	raw, err := yamltext.ToJSON(text, yamltext.Lenient())
	if err == nil {
		err = json.Unmarshal(raw, &about)
	}
	switch {
	case err != nil:
		return nil, about, fmt.Errorf("%s: %w", chartFile, err)
	case about.Name == "" || about.Version == "" || strings.ContainsAny(about.Name, "/\\"):
		return nil, about, fmt.Errorf("%s has no name or no version", chartFile)
	}
	return raw, about, nil
}

// chartMetadata returns what the archive of a chart says about it.
func chartMetadata(packed []byte) ([]byte, aboutChart, error) {
	var text []byte
	limits := archive.DefaultLimits()
	limits.Bytes = maxInput
	err := archive.Walk(bytes.NewReader(packed), limits, func(entry archive.Entry) error {
		// The directory of the chart has any name.
		if _, name, found := strings.Cut(entry.Path, "/"); !found || name != chartFile {
			return nil
		}
		var err error
		text, err = archive.ReadAll(entry.Content, 1<<20)
		return errors.Join(err, errFoundChart)
	})
	if err != nil && !errors.Is(err, errFoundChart) {
		return nil, aboutChart{}, fmt.Errorf("it is not a chart: %w", err)
	}
	if text == nil {
		return nil, aboutChart{}, fmt.Errorf("it is not a chart: it has no %s in a directory", chartFile)
	}
	return decodeChart(text)
}

var errFoundChart = errors.New("found")

// parts is a store of what belongs to one artifact.
type parts map[digest.Digest][]byte

func (p parts) put(mediaType string, data []byte) ocispec.Descriptor {
	d := describe(mediaType, data)
	p[d.Digest] = data
	return d
}

// Resolve implements oci.Store.
func (p parts) Resolve(context.Context, string, string) (ocispec.Descriptor, error) {
	return ocispec.Descriptor{}, oci.ErrNotFound
}

// Open implements oci.Store.
func (p parts) Open(_ context.Context, _ string, content ocispec.Descriptor) (io.ReadCloser, error) {
	return oci.Verified(io.NopCloser(bytes.NewReader(p[content.Digest])), content) // says what is wrong
}
