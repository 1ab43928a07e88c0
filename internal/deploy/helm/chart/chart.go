// Package chart loads the charts that DeployItems name: from registries, chart
// repositories, addresses, components, or the item itself. A chart is hostile until
// proven otherwise: nothing of it touches the file system of the host, and nothing
// that it names is followed.
package chart

import (
	"context"
	"fmt"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/landscape/repocontext"
)

// Options are what all items of a process have in common.
type Options struct {
	// Contexts reads Contexts. A cache will do.
	Contexts client.Reader
	// Sources reads what a Context refers to.
	Sources *repocontext.Reader
	// Components has the connections, the egress policy behind them, and the cache.
	Components *component.Shared
}

// Loader loads the charts of DeployItems.
type Loader struct {
	options Options
	// unpacking lets few charts be unpacked at the same time: one may take some hundred
	// megabytes for a moment.
	unpacking chan struct{}
}

// unpackedAtOnce is how many charts are unpacked at the same time.
const unpackedAtOnce = 4

// New returns a loader.
func New(options Options) *Loader {
	return &Loader{options: options, unpacking: make(chan struct{}, unpackedAtOnce)}
}

// Chart is a chart that was loaded and checked. It belongs to the caller, who may
// change it.
type Chart struct {
	// Chart is the chart with the charts that it holds.
	Chart *helmchart.Chart
	// Digest is that of the archive, like sha256:...: the same digest is the same chart.
	Digest string
	// Origin says where the chart came from, without credentials.
	Origin string
	// Warnings name what is probably not meant.
	Warnings []string
}

// Load returns the chart that the configuration of an item names. Wrong input is final; a host that
// does not answer may be asked again.
func (l *Loader) Load(ctx context.Context, item *v1alpha1.DeployItem, source *helmv1alpha1.Chart) (*Chart, error) {
	kind, err := kindOf(source)
	if err != nil {
		return nil, err
	}
	found, err := kind.fetch(l, ctx, item, source)
	if err != nil {
		return nil, explain(ctx, kind, err)
	}
	if found.trust != nil {
		if err := found.trust.verify(found); err != nil {
			return nil, unusable(ctx, kind.field, found.origin, err)
		}
	}
	loaded, err := l.unpack(ctx, found)
	if err == nil && found.trust != nil {
		err = found.asked(loaded)
	}
	if err != nil {
		return nil, unusable(ctx, kind.field, found.origin, err)
	}
	return &Chart{
		Chart: loaded, Digest: found.digest.String(), Origin: found.origin,
		Warnings: append(found.warnings, missing(loaded)...),
	}, nil
}

func (l *Loader) unpack(ctx context.Context, found *packed) (*helmchart.Chart, error) {
	select {
	case l.unpacking <- struct{}{}:
		defer func() { <-l.unpacking }()
		return unpack(ctx, found.packed)
	case <-ctx.Done():
		return nil, fmt.Errorf("wait until other charts are unpacked: %w", ctx.Err())
	}
}
