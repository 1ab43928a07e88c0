package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/content/component/repository"
)

// addLayer notes a layer and what it is for. Two resources with the same content
// share it.
func (p *publication) addLayer(layer ocispec.Descriptor, kind string, identity descriptor.Identity) error {
	type use struct {
		Kind     string              `json:"kind"`
		Identity descriptor.Identity `json:"identity"`
	}
	var uses []use
	at := -1
	for i, known := range p.layers {
		if known.Digest == layer.Digest {
			at = i
			if err := json.Unmarshal([]byte(known.Annotations[annotationArtifact]), &uses); err != nil {
				return fmt.Errorf("read annotation %s: %w", annotationArtifact, err)
			}
		}
	}
	// A content may have the same piece more than once.
	if !slices.ContainsFunc(uses, func(u use) bool { return u.Kind == kind && maps.Equal(u.Identity, identity) }) {
		uses = append(uses, use{kind, identity})
	}
	text, err := json.Marshal(uses)
	if err != nil {
		return fmt.Errorf("write annotation %s: %w", annotationArtifact, err)
	}
	layer.Annotations = map[string]string{annotationArtifact: string(text)}
	if at >= 0 {
		p.layers[at].Annotations = layer.Annotations
		return nil
	}
	p.layers = append(p.layers, layer)
	return nil
}

func describe(mediaType string, data []byte) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: mediaType, Digest: digest.FromBytes(data), Size: int64(len(data))}
}

// written is a component version as it is stored.
type written struct {
	result Published
	// parts are what is written beside contents, the manifest last.
	parts []part
}

type part struct {
	is   ocispec.Descriptor
	data []byte
}

// build encodes descriptor, config and manifest.
func (p *publication) build() (*written, error) {
	text, err := p.descriptor.EncodeYAML()
	if err != nil {
		return nil, err // says what it did
	}
	packed, err := repository.PackDescriptor(text)
	if err != nil {
		return nil, err // says what it did
	}
	layer := describe(repository.MediaTypeDescriptor, packed)
	config, err := json.Marshal(repository.ComponentConfig{DescriptorLayer: &layer})
	if err != nil {
		return nil, fmt.Errorf("encode the config: %w", err)
	}
	manifest := ocispec.Manifest{
		MediaType: ocispec.MediaTypeImageManifest, Config: describe(repository.MediaTypeConfig, config),
		Layers:      append([]ocispec.Descriptor{layer}, p.layers...),
		Annotations: map[string]string{annotationVersion: p.descriptor.Name + ":" + p.descriptor.Version, annotationCreator: creator},
	}
	manifest.SchemaVersion = 2
	raw, err := json.Marshal(manifest)
	if err != nil {
		return nil, fmt.Errorf("encode the manifest: %w", err)
	}
	at := describe(ocispec.MediaTypeImageManifest, raw)
	return &written{
		result: Published{Name: p.descriptor.Name, Version: p.descriptor.Version, Digest: at.Digest.String()},
		parts:  []part{{layer, packed}, {manifest.Config, config}, {at, raw}},
	}, nil
}

// exists reports whether exactly this is there. Another content of the same version
// is an error, unless it may be replaced.
func (p *publication) exists(ctx context.Context, w *written, tag string) (bool, error) {
	switch existing, err := p.options.Target.Resolve(ctx, p.repository, tag); {
	case err == nil && existing.Digest.String() == w.result.Digest:
		return true, nil
	case err == nil && !p.options.Overwrite:
		return false, ErrExists
	case err != nil && !errors.Is(err, oci.ErrNotFound):
		return false, err // the target says what it did
	}
	return false, nil
}

// finish writes descriptor, config and manifest, and then the tag.
func (p *publication) finish(ctx context.Context, tag string) (Published, error) {
	w, err := p.build()
	if err != nil {
		return Published{}, err
	}
	if w.result.Unchanged, err = p.exists(ctx, w, tag); w.result.Unchanged || err != nil {
		return w.result, err
	}
	return p.write(ctx, w, tag)
}

func (p *publication) write(ctx context.Context, w *written, tag string) (Published, error) {
	for _, part := range w.parts {
		if err := p.options.Target.Push(ctx, p.repository, part.is, bytes.NewReader(part.data)); err != nil {
			return Published{}, err // the target says what it did
		}
	}
	p.progress("tagging %s:%s", p.repository, tag)
	return w.result, p.options.Target.Tag(ctx, p.repository, w.parts[len(w.parts)-1].is, tag) // the target says what it did
}
