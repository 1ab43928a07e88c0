// Package chart renders the Helm chart of Landscaper for tests.
package chart

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Release and Namespace are the names under which the chart is rendered.
const (
	Release   = "landscaper"
	Namespace = "landscaper-system"
)

// Directory returns the folder of the chart.
func Directory() (string, error) {
	directory, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; directory != filepath.Dir(directory); directory = filepath.Dir(directory) {
		chart := filepath.Join(directory, "charts", "landscaper")
		if _, err := os.Stat(filepath.Join(chart, "Chart.yaml")); err == nil {
			return chart, nil
		}
	}
	return "", errors.New("there is no charts/landscaper above the working directory")
}

// Render returns the objects of the chart.
func Render(values map[string]any) ([]*unstructured.Unstructured, error) {
	directory, err := Directory()
	if err != nil {
		return nil, err
	}
	loaded, err := loader.Load(directory)
	if err != nil {
		return nil, fmt.Errorf("load chart: %w", err)
	}
	input, err := util.ToRenderValues(loaded, values, common.ReleaseOptions{Name: Release, Namespace: Namespace, IsInstall: true}, common.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("compute values: %w", err)
	}
	files, err := engine.Render(loaded, input)
	if err != nil {
		return nil, fmt.Errorf("render chart: %w", err)
	}
	var objects []*unstructured.Unstructured
	for name, content := range files {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		more, err := decode(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, more...)
	}
	return objects, nil
}

func decode(content string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(content), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// Find returns the object of a kind and name.
func Find(objects []*unstructured.Unstructured, kind, name string) (*unstructured.Unstructured, error) {
	for _, object := range objects {
		if object.GetKind() == kind && object.GetName() == name {
			return object, nil
		}
	}
	return nil, fmt.Errorf("the chart has no %s %s", kind, name)
}
