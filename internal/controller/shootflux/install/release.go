package install

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/base/yamltext"
)

const (
	labelComponent = "app.kubernetes.io/component"
	labelInstance  = "app.kubernetes.io/instance"
	labelPartOf    = "app.kubernetes.io/part-of"
	labelVersion   = "app.kubernetes.io/version"
)

// release has the manifests of a release of Flux. It is read-only.
type release struct {
	version string
	// components are the objects of each controller; roles and policies are what all
	// controllers share.
	components      map[string][]*unstructured.Unstructured
	roles, policies []*unstructured.Unstructured
}

// newRelease reads the files of a release: a file for each controller as its
// distribution has them, or one file with everything.
func newRelease(version string, files map[string][]byte) (*release, error) {
	r := &release{version: version, components: map[string][]*unstructured.Unstructured{}}
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if extension := path.Ext(name); extension != ".yaml" && extension != ".yml" {
			continue
		}
		objects, err := decode(files[name])
		if err != nil {
			return nil, fmt.Errorf("manifests of Flux %s: %s: %w", version, name, err)
		}
		for _, object := range objects {
			r.add(strings.TrimSuffix(path.Base(name), path.Ext(name)), object)
		}
	}
	for _, needed := range []string{SourceController, KustomizeController} {
		if err := r.check(needed); err != nil {
			return nil, err
		}
	}
	if len(r.roles) == 0 {
		return nil, fmt.Errorf("manifests of Flux %s: no roles for the controllers: these are not the manifests of a release", version)
	}
	return r, nil
}

// check returns an error if a controller is not complete.
func (r *release) check(component string) error {
	var kinds []string
	for _, object := range r.components[component] {
		kinds = append(kinds, object.GetKind())
	}
	for _, needed := range []string{"CustomResourceDefinition", "ServiceAccount", "Deployment"} {
		if !slices.Contains(kinds, needed) {
			return fmt.Errorf("manifests of Flux %s: no %s of %s: choose components that this release has", r.version, needed, component)
		}
	}
	return nil
}

// add assigns an object to a controller. Its file counts only if the object does not name its
// controller.
func (r *release) add(file string, object *unstructured.Unstructured) {
	component := object.GetLabels()[labelComponent]
	known := append(DefaultComponents(), ExtraComponents()...)
	if component == "" && slices.Contains(known, file) {
		component = file
	}
	switch {
	case object.GetKind() == "Kustomization" && strings.HasPrefix(object.GetAPIVersion(), "kustomize.config.k8s.io/"):
		// A Kustomization only lists files, and is not applied.
	case object.GetKind() == "Namespace":
		// The namespace is made from the options.
	case component != "":
		r.components[component] = append(r.components[component], object)
	case object.GetKind() == "NetworkPolicy":
		r.policies = append(r.policies, object)
	default:
		r.roles = append(r.roles, object)
	}
}

func decode(content []byte) ([]*unstructured.Unstructured, error) {
	documents, err := yamltext.Documents(content, yamltext.Lenient())
	if err != nil {
		return nil, err // the caller wraps the error
	}
	var objects []*unstructured.Unstructured
	for i, document := range documents {
		text, err := document.JSON()
		if err != nil {
			return nil, err // the caller wraps the error
		}
		object := &unstructured.Unstructured{}
		if string(text) == "null" {
			continue
		}
		if err := json.Unmarshal(text, &object.Object); err != nil {
			return nil, fmt.Errorf("document %d is not an object: %w", i+1, err)
		}
		if object.GetKind() == "" || object.GetAPIVersion() == "" || object.GetName() == "" && object.GetKind() != "Kustomization" {
			return nil, fmt.Errorf("document %d: apiVersion, kind or metadata.name is missing", i+1)
		}
		objects = append(objects, object)
	}
	return objects, nil
}
