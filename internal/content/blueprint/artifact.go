package blueprint

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/oci"
)

// Media types of blueprints that are artifacts of a registry.
const (
	mediaTypeConfig = "application/vnd.gardener.landscaper.blueprint.config.v1"
	mediaTypeLayer  = "application/vnd.gardener.landscaper.blueprint.layer.v1.tar"
	mediaTypeOld    = "application/vnd.gardener.landscaper.blueprint.v1+tar"
)

// maxLayers bounds how many layers are put over each other.
const maxLayers = 64

// isBlueprint reports whether a media type is one of blueprints alone.
func isBlueprint(mediaType string) bool {
	switch strings.TrimSuffix(mediaType, "+gzip") {
	case mediaTypeConfig, mediaTypeLayer, mediaTypeOld:
		return true
	}
	return false
}

// artifact unpacks the layers of an artifact of a registry.
func (p *packed) artifact(ctx context.Context) (*memfs.Tree, error) {
	set, err := oci.ReadSet(bytes.NewReader(p.data), p.limits())
	if err != nil {
		return nil, err // says what it did
	}
	manifest, err := mainManifest(ctx, set)
	if err != nil {
		return nil, err
	}
	layers := manifest.Layers
	declared := isBlueprint(manifest.Config.MediaType) || (len(layers) > 0 && isBlueprint(layers[0].MediaType))
	if len(layers) == 0 || (!declared && len(layers) > 1) {
		return nil, fmt.Errorf("%w: it has %s", ErrNoBlueprint, describe(manifest))
	}
	files, err := unpackLayers(ctx, set, layers, p.limits())
	if err != nil && !declared && !isRefused(err) {
		return nil, fmt.Errorf("%w: it has %s: %w", ErrNoBlueprint, describe(manifest), err)
	}
	if err == nil && !declared && !has(files, v1alpha1.BlueprintFileName) {
		return nil, fmt.Errorf("%w: it has %s: %w", ErrNoBlueprint, describe(manifest), missing(files))
	}
	return files, err
}

// mainManifest returns the manifest that a set is about. An index of one
// manifest stands for it.
func mainManifest(ctx context.Context, set *oci.Set) (*oci.Manifest, error) {
	manifest, err := oci.ReadManifest(ctx, set, "", set.Main)
	if err != nil || !manifest.Index {
		return manifest, err // says what it did
	}
	if len(manifest.Manifests) != 1 || oci.IsIndex(manifest.Manifests[0].MediaType) {
		return nil, fmt.Errorf("%w: it is an index of %d manifests", ErrNoBlueprint, len(manifest.Manifests))
	}
	return oci.ReadManifest(ctx, set, "", manifest.Manifests[0]) // says what it did
}

// unpackLayers puts the layers over each other. After the first layer only archives of files count:
// other layers describe the blueprint.
func unpackLayers(ctx context.Context, set *oci.Set, layers []ocispec.Descriptor, limits archive.Limits) (*memfs.Tree, error) {
	if len(layers) > maxLayers {
		return nil, &archive.TooLargeError{What: "the number of layers", Limit: maxLayers}
	}
	builder := archive.NewBuilder(limits)
	for i, layer := range layers {
		if i > 0 && !isTree(layer.MediaType) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err // the caller gave up
		}
		data, err := oci.Read(ctx, set, "the artifact", layer, limits.Bytes)
		if err != nil {
			return nil, err // says what it did
		}
		if err := archive.UnpackInto(builder, bytes.NewReader(data), limits); err != nil {
			return nil, fmt.Errorf("unpack layer %d of media type %q: %w", i, layer.MediaType, err)
		}
	}
	return builder.Tree(), nil
}

// describe lists the media types in a manifest.
func describe(manifest *oci.Manifest) string {
	const most = 5
	var types []string
	for _, layer := range manifest.Layers[:min(len(manifest.Layers), most)] {
		types = append(types, fmt.Sprintf("%.100q", layer.MediaType))
	}
	layers := fmt.Sprintf("%d layers", len(manifest.Layers))
	if len(types) > 0 {
		layers += " of types " + strings.Join(slices.Compact(types), ", ")
	}
	return fmt.Sprintf("config type %.100q and %s; blueprints have config type %s", manifest.Config.MediaType, layers, mediaTypeConfig)
}
