package main

import (
	"bytes"
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/cli/quickstart/bootstrap"
	"go.landscaper.dev/internal/server/install"
)

// namespace is where the manifests install Landscaper.
const namespace = "landscaper-system"

// manifests writes what those apply who do not use Helm. Definitions of kinds come in a file of
// their own, since they have to be there before.
func (r *release) manifests(context.Context) error {
	crds, err := install.CRDs()
	if err != nil {
		return err // says what it did
	}
	var kinds bytes.Buffer
	for _, crd := range crds {
		if err := addDocument(&kinds, crd); err != nil {
			return err // says what it did
		}
	}
	policies, err := install.Policies(nil)
	if err != nil {
		return err // says what it did
	}
	made := r.find("landscaper")
	objects, err := bootstrap.Objects(namespace, map[string]any{"image": map[string]any{"repository": made.Repository, "digest": made.Root.Digest.String()}})
	if err != nil {
		return err // says what it did
	}
	var server bytes.Buffer
	first := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}}}
	for _, object := range append(append([]*unstructured.Unstructured{first}, policies...), objects...) {
		if err := addDocument(&server, object.Object); err != nil {
			return err // says what it did
		}
	}
	if err := r.write("landscaper-crds.yaml", kinds.Bytes()); err != nil {
		return err // names the file
	}
	return r.write("landscaper.yaml", server.Bytes())
}

func addDocument(out *bytes.Buffer, object any) error {
	text, err := yaml.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode a manifest: %w", err)
	}
	fmt.Fprintf(out, "---\n%s", text)
	return nil
}
