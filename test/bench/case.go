package main

import (
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/landscape"
)

// newInstallation returns the smallest case.
func newInstallation(namespace, name string) *v1alpha1.Installation {
	return landscape.NewInstallation(namespace, name, landscape.OneConfigMap)
}

// withItems returns a maker of Installations with so many items of one ConfigMap each.
func withItems(count int) func(namespace, name string) *v1alpha1.Installation {
	return func(namespace, name string) *v1alpha1.Installation {
		return landscape.NewInstallation(namespace, name, landscape.ConfigMaps(count))
	}
}
