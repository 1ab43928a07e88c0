package chart

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component/access"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/deploy/itemcontext"
)

// Media types of charts in registries.
const (
	configType = "application/vnd.cncf.helm.config.v1+json"
	layerType  = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
	// oldLayerType is what the first tools wrote.
	oldLayerType = "application/tar+gzip"
)

// registry reads a chart that is an artifact in a registry.
func (l *Loader) registry(ctx context.Context, item *v1alpha1.DeployItem, source *helmv1alpha1.Chart) (*packed, error) {
	reference, err := parseReference(source.Ref)
	if err != nil {
		return nil, err
	}
	from, err := l.sources(ctx, item)
	if err != nil {
		return nil, err
	}
	session, trust, err := l.open(ctx, from)
	if err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // nothing is written
	store, at, err := itemcontext.Artifact(ctx, session, reference)
	if err != nil {
		return nil, err // says what was done
	}
	found, err := artifact(ctx, store, reference.Repository, at, trust)
	if err != nil {
		return nil, err
	}
	if err := itemcontext.CheckContent(item, found.packed, at.Digest); err != nil {
		return nil, err
	}
	if reference.Digest == "" {
		found.name, found.version = path.Base(reference.Repository), reference.Tag
	}
	found.origin, found.warnings = "registry reference "+source.Ref, from.Warnings
	return found, nil
}

// parseReference reads a reference with a tag, a digest, or both.
func parseReference(text string) (access.Reference, error) {
	text = strings.TrimSpace(text)
	name, pin, pinned := strings.Cut(text, "@")
	colon := strings.LastIndex(name, ":")
	tagged := colon > strings.LastIndex(name, "/")
	if !tagged && !pinned {
		return access.Reference{}, fmt.Errorf("no tag specified in reference %.200s: add the version of the chart", text)
	}
	if tagged {
		// Helm writes versions so, because tags have no +.
		name = name[:colon] + strings.ReplaceAll(name[colon:], "+", "_")
	}
	if pinned {
		if digest.Digest(pin).Validate() != nil {
			// What is before another @ may be a password.
			return access.Reference{}, errors.New("the part after the @ is not a digest: write the reference like host/path:tag@sha256:…, and credentials into the Context")
		}
		name += "@" + pin
	}
	return access.ParseReference(name) // says what is wrong
}

// artifact reads the layer with the chart, and the one with its signature if that matters.
func artifact(ctx context.Context, store oci.Store, repository string, at ocispec.Descriptor, trust *trust) (*packed, error) {
	manifest, err := oci.ReadManifest(ctx, store, repository, at)
	if err == nil && manifest.Index && len(manifest.Manifests) == 1 && !oci.IsIndex(manifest.Manifests[0].MediaType) {
		manifest, err = oci.ReadManifest(ctx, store, repository, manifest.Manifests[0])
	}
	if err != nil {
		return nil, err // says what was done
	}
	layer, err := chartLayer(manifest)
	if err != nil {
		return nil, err
	}
	data, err := oci.Read(ctx, store, repository, layer, maxPacked)
	if err != nil {
		return nil, err // says what was done
	}
	found := newPacked(data, "")
	if found.trust = trust; trust == nil {
		return found, nil
	}
	if at := slices.IndexFunc(manifest.Layers, func(layer ocispec.Descriptor) bool { return layer.MediaType == provenanceType }); at >= 0 {
		found.provenance, err = oci.Read(ctx, store, repository, manifest.Layers[at], maxProvenance)
	}
	return found, err // says what was done
}

// chartLayer returns the layer that is the archive of a chart.
func chartLayer(manifest *oci.Manifest) (ocispec.Descriptor, error) {
	if manifest.Index {
		return ocispec.Descriptor{}, fmt.Errorf("the artifact is not a chart but an index of %d manifests", len(manifest.Manifests))
	}
	for _, kind := range []string{layerType, oldLayerType} {
		for _, layer := range manifest.Layers {
			if layer.MediaType == kind {
				return layer, nil
			}
		}
	}
	if manifest.Config.MediaType == configType && len(manifest.Layers) == 1 {
		return manifest.Layers[0], nil
	}
	if len(manifest.Layers) == 0 {
		return ocispec.Descriptor{}, errors.New("the artifact is not a chart: it has no layers")
	}
	return ocispec.Descriptor{}, fmt.Errorf("the artifact is not a chart: it has config type %.100q and %d layers, the first of type %.100q; a chart has a layer of type %s",
		manifest.Config.MediaType, len(manifest.Layers), manifest.Layers[0].MediaType, layerType)
}
