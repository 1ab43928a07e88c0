package chart

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/opencontainers/go-digest"

	helmv1alpha1 "go.landscaper.dev/api/helm/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
)

// packed is the archive of a chart.
type packed struct {
	packed   []byte
	digest   digest.Digest
	origin   string
	warnings []string
	// trust says whose signatures count, nil if it does not matter who has signed the archive;
	// provenance is the file with the signature.
	trust      *trust
	provenance []byte
	// name and version are what was asked for, where that is known.
	name, version string
}

func newPacked(data []byte, origin string) *packed {
	return &packed{packed: data, digest: digest.FromBytes(data), origin: origin}
}

// kind is a way in which an item names its chart.
type kind struct {
	// field is the field of the item.
	field string
	// credentials says where those for it come from.
	credentials string
	given       func(*helmv1alpha1.Chart) bool
	fetch       func(*Loader, context.Context, *v1alpha1.DeployItem, *helmv1alpha1.Chart) (*packed, error)
}

const (
	noCredentials = "none are sent there: a registry or a chart repository takes some"
	pullSecrets   = "they come from registryPullSecrets of the Context"
	repositories  = "they come from configurations." + credentialsKey + " of the Context"
	bothSources   = pullSecrets + ", and for chart repositories from configurations." + credentialsKey
)

func kinds() []kind {
	return []kind{
		{"chart.archive.raw", noCredentials, func(c *helmv1alpha1.Chart) bool { return c.Archive != nil && c.Archive.Raw != "" }, (*Loader).raw},
		{"chart.archive.remote.url", noCredentials, func(c *helmv1alpha1.Chart) bool {
			return c.Archive != nil && c.Archive.Remote != nil && c.Archive.Remote.URL != ""
		}, (*Loader).remote},
		{"chart.ref", pullSecrets, func(c *helmv1alpha1.Chart) bool { return c.Ref != "" }, (*Loader).registry},
		{"chart.helmChartRepo", repositories, func(c *helmv1alpha1.Chart) bool { return c.HelmChartRepo != nil }, (*Loader).repository},
		{"chart.fromResource", bothSources, func(c *helmv1alpha1.Chart) bool { return c.FromResource != nil }, (*Loader).fromResource},
		{"chart.resourceRef", bothSources, func(c *helmv1alpha1.Chart) bool { return c.ResourceRef != "" }, (*Loader).resourceKey},
	}
}

// kindOf returns the way in which a chart is named; there must be exactly one.
func kindOf(source *helmv1alpha1.Chart) (kind, error) {
	var found []kind
	var fields []string
	for _, k := range kinds() {
		if source != nil && k.given(source) {
			found, fields = append(found, k), append(fields, k.field)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return kind{}, deployer.ConfigurationError("chart", "nothing says where the chart is: set one of ref, archive, helmChartRepo, resourceRef and fromResource")
	}
	return kind{}, deployer.ConfigurationError("chart", fmt.Sprintf("%s are set, but a chart has one source: keep one of them", strings.Join(fields, " and ")))
}

// raw returns the archive that is in the item.
func (l *Loader) raw(_ context.Context, _ *v1alpha1.DeployItem, source *helmv1alpha1.Chart) (*packed, error) {
	text := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\r\n", r) {
			return -1
		}
		return r
	}, source.Archive.Raw)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("the archive is not base64")
	}
	return newPacked(data, "the archive in the item"), nil
}
