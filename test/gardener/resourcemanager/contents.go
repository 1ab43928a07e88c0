package resourcemanager

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"
	"helm.sh/helm/v4/pkg/release/v1/util"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxContents is how much may come out of a compressed Secret.
const maxContents = 64 << 20

// contents are the objects of a ManagedResource.
type contents struct {
	objects []*unstructured.Unstructured
	// checksum is that of all data.
	checksum string
	// undecodable is what is wrong with documents that are left out.
	undecodable error
}

// read reads the Secrets of a ManagedResource.
func (m *Manager) read(ctx context.Context, resource *managedResource) (*contents, error) {
	found, sum := &contents{}, sha256.New()
	for _, wanted := range resource.Spec.SecretRefs {
		secret := &corev1.Secret{}
		if err := m.seed.Get(ctx, client.ObjectKey{Namespace: resource.Namespace, Name: wanted.Name}, secret); err != nil {
			return nil, fmt.Errorf("could not read secret %s: %w", wanted.Name, err)
		}
		for _, key := range slices.Sorted(maps.Keys(secret.Data)) {
			data := secret.Data[key]
			sum.Write(append([]byte(key), data...))
			if strings.HasSuffix(key, ".br") {
				var err error
				if data, err = io.ReadAll(io.LimitReader(brotli.NewReader(bytes.NewReader(data)), maxContents)); err != nil {
					found.undecodable = errors.Join(found.undecodable, fmt.Errorf("key %s of secret %s: %w", key, wanted.Name, err))
					continue
				}
			}
			found.decode(data, wanted.Name, key)
		}
	}
	found.checksum = hex.EncodeToString(sum.Sum(nil))
	sortForInstallation(found.objects)
	return found, nil
}

// decode adds the documents of a text. One that is wrong does not stop the others.
func (c *contents) decode(text []byte, secret, key string) {
	documents := utilyaml.NewYAMLReader(newLines(text))
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return
		}
		object := &unstructured.Unstructured{}
		if err == nil {
			err = utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(document), len(document)+1).Decode(&object.Object)
		}
		if errors.Is(err, io.EOF) || err == nil && len(object.Object) == 0 {
			continue
		}
		if err == nil && (object.GetKind() == "" || object.GetAPIVersion() == "" || object.GetName() == "") {
			err = errors.New("apiVersion, kind or name is missing")
		}
		if err != nil {
			c.undecodable = errors.Join(c.undecodable, fmt.Errorf("document %d of key %s of secret %s: %w", number, key, secret, err))
			continue
		}
		c.objects = append(c.objects, object)
	}
}

// sortForInstallation sorts as Helm does; kinds that it does not know come last.
func sortForInstallation(objects []*unstructured.Unstructured) {
	place := func(object *unstructured.Unstructured) int {
		if at := slices.Index(util.InstallOrder, object.GetKind()); at >= 0 {
			return at
		}
		return len(util.InstallOrder)
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return place(a) - place(b) })
}

// settle gives an object its namespace.
func (m *Manager) settle(object *unstructured.Unstructured) error {
	namespaced, err := m.shoot.IsObjectNamespaced(object)
	if err != nil {
		return err
	}
	if namespaced && object.GetNamespace() == "" {
		object.SetNamespace("default")
	}
	if !namespaced {
		object.SetNamespace("")
	}
	return nil
}

// settleKnown gives objects their namespaces whose kinds are contained as well, or served.
func (m *Manager) settleKnown(objects []*unstructured.Unstructured) {
	scopes := map[string]string{}
	for _, object := range objects {
		if object.GetKind() == "CustomResourceDefinition" {
			group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
			kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
			scope, _, _ := unstructured.NestedString(object.Object, "spec", "scope")
			scopes[kind+"."+group] = scope
		}
	}
	for _, object := range objects {
		err := m.settle(object)
		scope := scopes[object.GroupVersionKind().GroupKind().String()]
		if meta.IsNoMatchError(err) && scope == "Namespaced" && object.GetNamespace() == "" {
			object.SetNamespace("default")
		}
	}
}
