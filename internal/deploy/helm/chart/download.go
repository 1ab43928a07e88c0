package chart

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/component"
	"go.landscaper.dev/internal/component/archive"
	"go.landscaper.dev/internal/component/descriptor"
	"go.landscaper.dev/internal/component/oci"
)

// remote reads an archive at an address. No credentials are sent, so the Context is
// not read either.
func (l *Loader) remote(ctx context.Context, item *v1alpha1.DeployItem, source *helmv1alpha1.Chart) (*packed, error) {
	session := component.NewSession(l.options.Components, component.Options{Tenant: item.Namespace})
	defer session.Close() //nolint:errcheck // nothing is written
	address := strings.TrimSpace(source.Archive.Remote.URL)
	data, err := session.Reader().Download(ctx, address, maxPacked)
	if err != nil {
		return nil, err //nolint:wrapcheck // tells what it did
	}
	return newPacked(data, redacted(address)), nil
}

// repository reads a chart of a chart repository.
func (l *Loader) repository(ctx context.Context, item *v1alpha1.DeployItem, source *helmv1alpha1.Chart) (*packed, error) {
	wanted := source.HelmChartRepo
	for field, value := range map[string]string{"helmChartRepoUrl": wanted.HelmChartRepoURL, "helmChartName": wanted.HelmChartName, "helmChartVersion": wanted.HelmChartVersion} {
		if strings.TrimSpace(value) == "" {
			return nil, deployer.ConfigurationError("chart.helmChartRepo."+field, "must be set")
		}
	}
	from, err := l.repositorySources(ctx, item)
	if err != nil {
		return nil, err
	}
	session := component.NewSession(l.options.Components, from.Options)
	defer session.Close() //nolint:errcheck // nothing is written
	typed, err := descriptor.NewTyped(map[string]any{
		"type": "helm", "helmRepository": strings.TrimSpace(wanted.HelmChartRepoURL), "helmChart": wanted.HelmChartName, "version": wanted.HelmChartVersion,
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // tells what it did
	}
	blob, err := session.Reader().Open(ctx, nil, typed)
	if err != nil {
		return nil, err //nolint:wrapcheck // tells what it did
	}
	defer blob.Close() //nolint:errcheck // nothing is written
	data, err := archive.ReadAll(blob, maxPacked)
	if err != nil {
		return nil, err //nolint:wrapcheck // tells what it did
	}
	found, err := unset(ctx, data, blob.MediaType)
	if err != nil {
		return nil, err
	}
	found.origin = fmt.Sprintf("chart %s %s of chart repository %s", wanted.HelmChartName, wanted.HelmChartVersion, redacted(wanted.HelmChartRepoURL))
	found.warnings = from.Warnings
	return found, nil
}

// unset takes a chart out of the archive of an artifact, if it is in one.
func unset(ctx context.Context, data []byte, mediaType string) (*packed, error) {
	if _, isSet := oci.IsSet(mediaType); !isSet && !oci.IsManifest(mediaType) {
		return newPacked(data, ""), nil
	}
	set, err := oci.ReadSet(bytes.NewReader(data), archive.DefaultLimits())
	if err != nil {
		return nil, err //nolint:wrapcheck // tells what it did
	}
	return artifact(ctx, set, "the artifact", set.Main)
}
