package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"

	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/yamltext"
)

// Sorted is what a chart makes, in the order of Helm.
type Sorted struct {
	// Hooks are the objects that run at certain moments.
	Hooks []*helmrelease.Hook
	// Manifest are all others, as Helm stores them.
	Manifest string
}

// Sort brings what templates have printed into order. All of it must be YAML.
func (o *Output) Sort() (*Sorted, error) {
	for _, name := range slices.Sorted(maps.Keys(o.Files)) {
		for _, document := range releaseutil.SplitManifests(o.Files[name]) {
			if _, err := yamltext.ToJSON([]byte(document), yamltext.Lenient()); err != nil {
				return nil, invalid(fmt.Sprintf("what %s makes is not YAML: %v", name, err))
			}
		}
	}
	hooks, manifests, err := releaseutil.SortManifests(o.Files, nil, releaseutil.InstallOrder)
	if err != nil {
		// The reason is dropped on purpose: it may quote a value.
		return nil, invalid("what " + o.culprit() + " makes is not an object: apiVersion, kind, metadata.name and annotations must be texts")
	}
	var out strings.Builder
	for _, manifest := range manifests {
		fmt.Fprintf(&out, "---\n# Source: %s\n%s\n", manifest.Name, manifest.Content)
	}
	return &Sorted{Hooks: hooks, Manifest: out.String()}, nil
}

// culprit names the template that makes what cannot be brought into order.
func (o *Output) culprit() string {
	for _, name := range slices.Sorted(maps.Keys(o.Files)) {
		if _, _, err := releaseutil.SortManifests(map[string]string{name: o.Files[name]}, nil, releaseutil.InstallOrder); err != nil {
			return name
		}
	}
	return "one of the templates"
}

// document is what exports from values read: Chart, Capabilities, Release and Values.
func (v *Values) document() (map[string]any, error) {
	document, err := jsonvalue.FromObject(v.Root)
	content, isMap := document.(map[string]any)
	if err != nil || !isMap {
		return nil, invalid("the values cannot be read as a document")
	}
	return content, nil
}
