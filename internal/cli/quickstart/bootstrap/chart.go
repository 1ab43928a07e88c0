// Package bootstrap installs a Landscaper for tries: the chart, without Helm on the
// machine and without a network of its own.
package bootstrap

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/charts"
	"go.landscaper.dev/internal/base/version"
	"go.landscaper.dev/internal/base/yamltext"
)

// release is the name under which the chart is rendered.
const release = "landscaper"

// hook marks objects that only Helm would run: they do what we have done before.
const hook = "helm.sh/hook"

// Objects returns the objects of the chart without its hooks, in the order in which they
// are applied.
func Objects(namespace string, values map[string]any) ([]*unstructured.Unstructured, error) {
	files, err := buffered()
	if err != nil {
		return nil, err
	}
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		return nil, fmt.Errorf("load the chart: %w", err)
	}
	ofRelease(loaded.Values, version.Registry(), version.String())
	input, err := util.ToRenderValues(loaded, values, common.ReleaseOptions{Name: release, Namespace: namespace, IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("compute the values of the chart: %w", err)
	}
	rendered, err := engine.Render(loaded, input)
	if err != nil {
		return nil, fmt.Errorf("render the chart: %w", err)
	}
	var objects []*unstructured.Unstructured
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		text := rendered[name]
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		documents, err := yamltext.Documents([]byte(text), yamltext.Lenient())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, document := range documents {
			raw, err := document.JSON()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			object := &unstructured.Unstructured{}
			if err := object.UnmarshalJSON(raw); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if object.GetAnnotations()[hook] == "" {
				objects = append(objects, object)
			}
		}
	}
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		return strings.Compare(place(a)+a.GetName(), place(b)+b.GetName())
	})
	return objects, nil
}

// NamesImage says whether the image is known: of a release by the program, or else by the values. The
// chart alone names one that is on no registry, so that a cluster would look for it at its default
// registry, where anyone may have put something.
func NamesImage(values map[string]any) bool {
	image, _ := values["image"].(map[string]any)
	repository, _ := image["repository"].(string)
	return repository != "" || version.Registry() != ""
}

// ofRelease makes the image of the release of this program the default of the chart.
func ofRelease(values map[string]any, registry, tag string) {
	image, ok := values["image"].(map[string]any)
	if registry == "" || !ok {
		return
	}
	image["repository"], image["tag"] = registry+"/"+release, tag
}

// place sorts kinds: what a Deployment needs comes before it.
func place(object *unstructured.Unstructured) string {
	if object.GetKind() == "Deployment" {
		return "z"
	}
	return object.GetKind()
}

func buffered() ([]*archive.BufferedFile, error) {
	var files []*archive.BufferedFile
	err := fs.WalkDir(charts.Landscaper, release, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := charts.Landscaper.ReadFile(path)
		files = append(files, &archive.BufferedFile{Name: strings.TrimPrefix(path, release+"/"), Data: content})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the chart: %w", err)
	}
	return files, nil
}
