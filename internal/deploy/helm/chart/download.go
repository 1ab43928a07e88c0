package chart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/opencontainers/go-digest"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/content/component/archive"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/content/component/oci"
	"go.landscaper.dev/internal/deploy/itemcontext"
	"go.landscaper.dev/internal/landscape/repocontext"
)

// remote reads an archive at an address. No credentials are sent, so of the Context only
// matters whose signatures count.
func (l *Loader) remote(ctx context.Context, item *v1alpha1.DeployItem, source *helmv1alpha1.Chart) (*packed, error) {
	trust, err := l.remoteTrust(ctx, item)
	if err != nil {
		return nil, err
	}
	session := component.NewSession(l.options.Components, component.Options{Tenant: item.Namespace, Job: item.Status.JobID})
	defer session.Close() //nolint:errcheck // nothing is written
	address := strings.TrimSpace(source.Archive.Remote.URL)
	data, err := session.Reader().Download(ctx, address, maxPacked)
	if err != nil {
		return nil, err // says what was done
	}
	if err := itemcontext.CheckContent(item, data, ""); err != nil {
		return nil, err
	}
	found := newPacked(data, redacted(address))
	if found.trust = trust; trust != nil {
		found.provenance, err = unsigned(session.Reader().Provenance(ctx, address, maxProvenance))
	}
	return found, err
}

// remoteTrust says whose signatures count for what is at an address.
func (l *Loader) remoteTrust(ctx context.Context, item *v1alpha1.DeployItem) (*trust, error) {
	from := itemcontext.Origins{Contexts: l.options.Contexts, Sources: l.options.Sources}
	landscape, err := from.Context(ctx, item, operation)
	var unread *repocontext.ReadError
	if errors.As(err, &unread) {
		return nil, err // names the Context
	}
	if err != nil {
		// There is no Context that could require signatures.
		return nil, nil //nolint:nilerr // see above
	}
	if _, asks := landscape.Configurations[keyringKey]; !asks {
		return nil, nil
	}
	read, err := l.sources(ctx, item)
	if err != nil {
		return nil, err
	}
	return trustOf(ctx, read)
}

// unsigned makes nothing of a provenance file that does not exist.
func unsigned(data []byte, err error) ([]byte, error) {
	if errors.Is(err, oci.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read its provenance file: %w", err)
	}
	return data, nil
}

// repository reads a chart of a chart repository.
func (l *Loader) repository(ctx context.Context, item *v1alpha1.DeployItem, source *helmv1alpha1.Chart) (*packed, error) {
	wanted := source.HelmChartRepo
	for _, field := range []struct{ name, value string }{
		{"helmChartRepoUrl", wanted.HelmChartRepoURL}, {"helmChartName", wanted.HelmChartName}, {"helmChartVersion", wanted.HelmChartVersion},
	} {
		if strings.TrimSpace(field.value) == "" {
			return nil, deployer.ConfigurationError("chart.helmChartRepo."+field.name, "must be set")
		}
	}
	from, err := l.repositorySources(ctx, item)
	if err != nil {
		return nil, err
	}
	session, trust, err := l.open(ctx, from)
	if err != nil {
		return nil, err
	}
	defer session.Close() //nolint:errcheck // nothing is written
	typed, err := descriptor.NewTyped(map[string]any{
		"type": "helm", "helmRepository": strings.TrimSpace(wanted.HelmChartRepoURL), "helmChart": wanted.HelmChartName, "version": wanted.HelmChartVersion,
	})
	if err != nil {
		return nil, err // says what was done
	}
	blob, err := session.Reader().Open(ctx, nil, typed)
	if err != nil {
		return nil, err // says what was done
	}
	defer blob.Close() //nolint:errcheck // nothing is written
	data, err := archive.ReadAll(blob, maxPacked)
	if err != nil {
		return nil, err // says what was done
	}
	if err := itemcontext.CheckContent(item, data, digest.Digest(blob.Digest)); err != nil {
		return nil, err
	}
	found, err := unset(ctx, data, blob.MediaType, trust)
	if err == nil && trust != nil && len(found.provenance) == 0 {
		found.provenance, err = unsigned(session.Reader().ChartProvenance(ctx, typed, maxProvenance))
	}
	if err != nil {
		return nil, err
	}
	found.name, found.version = wanted.HelmChartName, wanted.HelmChartVersion
	found.origin = fmt.Sprintf("chart %s %s of chart repository %s", wanted.HelmChartName, wanted.HelmChartVersion, redacted(wanted.HelmChartRepoURL))
	found.warnings = from.Warnings
	return found, nil
}

// unset takes a chart out of the archive of an artifact, if it is in one.
func unset(ctx context.Context, data []byte, mediaType string, trust *trust) (*packed, error) {
	if _, isSet := oci.IsSet(mediaType); !isSet && !oci.IsManifest(mediaType) {
		found := newPacked(data, "")
		found.trust = trust
		return found, nil
	}
	set, err := oci.ReadSet(bytes.NewReader(data), archive.DefaultLimits())
	if err != nil {
		return nil, err // says what was done
	}
	return artifact(ctx, set, "the artifact", set.Main, trust)
}
