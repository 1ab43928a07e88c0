package release

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	helmrelease "helm.sh/helm/v4/pkg/release/v1"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target"
)

const (
	managedByLabel      = "app.kubernetes.io/managed-by"
	managedByHelm       = "Helm"
	releaseAnnotation   = "meta.helm.sh/release-name"
	namespaceAnnotation = "meta.helm.sh/release-namespace"
	policyAnnotation    = "helm.sh/resource-policy"
	keepPolicy          = "keep"
)

// Entries reads the objects of a manifest in their order. Those without a namespace get that of the
// release; it is removed again from cluster-scoped objects once their kinds are known.
func Entries(manifest, namespace string) ([]apply.Entry, error) {
	return (&Reader{}).Entries(manifest, namespace)
}

// maxObjects is what all objects of a release may take in memory, as an estimate. Each of its documents
// has bounds of its own, but 3 KB with aliases become 24 MiB, and there may be many.
const maxObjects = 64 << 20

// Reader reads texts whose objects are held together.
type Reader struct{ size answerlimit.Scanner }

// Entries reads the objects of one of the texts.
func (r *Reader) Entries(manifest, namespace string) ([]apply.Entry, error) {
	parts := releaseutil.SplitManifests(manifest)
	keys := make([]string, 0, len(parts))
	for key := range parts {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		order := releaseutil.BySplitManifestsOrder{a, b}
		if order.Less(0, 1) {
			return -1
		}
		return 1
	})
	var entries []apply.Entry
	for _, key := range keys {
		object, err := r.objectOf(parts[key])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", sourceOf(parts[key]), err)
		}
		if object == nil {
			continue
		}
		entries = append(entries, apply.Entry{Position: sourceOf(parts[key]), Policy: deployer.ManagePolicy, Object: object})
	}
	entries, err := apply.Expand(entries)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if entry.Object.GetNamespace() == "" {
			entry.Object.SetNamespace(namespace)
		}
	}
	return entries, nil
}

// objectOf reads one object, or nil if a text holds none.
func (r *Reader) objectOf(text string) (*unstructured.Unstructured, error) {
	raw, err := yamltext.ToJSON([]byte(text), yamltext.Lenient())
	if err != nil {
		return nil, err
	}
	if r.size.Exceeds(raw, maxObjects) {
		return nil, fmt.Errorf("the objects until here take more than %d MiB of memory: distribute them over several charts", maxObjects>>20)
	}
	var content map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &content); err != nil {
		// The reason is dropped on purpose: it may quote a value.
		return nil, fmt.Errorf("a document is not an object")
	}
	object := &unstructured.Unstructured{Object: content}
	if len(content) == 0 || (object.GetAPIVersion() == "" && object.GetKind() == "") {
		return nil, nil
	}
	return object, nil
}

// sourceOf is the file that a document of a manifest comes from.
func sourceOf(text string) string {
	for line := range strings.Lines(text) {
		if source, found := strings.CutPrefix(line, "# Source: "); found {
			return strings.TrimSpace(source)
		}
	}
	return "the manifest"
}

// key identifies an object, whatever the version of its API.
type key struct {
	schema.GroupKind
	namespace, name string
}

// compare is the order in which objects are listed.
func (k key) compare(other key) int {
	return cmp.Or(strings.Compare(k.Group, other.Group), strings.Compare(k.Kind, other.Kind), strings.Compare(k.namespace, other.namespace), strings.Compare(k.name, other.name))
}

func keyOf(object *unstructured.Unstructured) key {
	return key{object.GroupVersionKind().GroupKind(), object.GetNamespace(), object.GetName()}
}

// placed finds the places of objects that were deployed before. A version that the
// cluster does not serve any more is replaced by another one: the objects are the same.
// A kind that it does not serve in any version has no objects.
func placed(ctx context.Context, on target.Cluster, release *helmrelease.Release) ([]apply.Object, error) {
	entries, err := Entries(release.Manifest, release.Namespace)
	if err != nil {
		return nil, fmt.Errorf("read revision %d: %w", release.Version, err)
	}
	var objects []apply.Object
	for _, entry := range entries {
		found, err := apply.Prepare(ctx, on, []apply.Entry{entry}, nil)
		if apply.IsUnknownKind(err) {
			found, err = elsewhere(ctx, on, entry)
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, found...)
	}
	return objects, nil
}

// elsewhere finds the place of an object in a version that the cluster does serve. What
// the object says stays in its own version.
func elsewhere(ctx context.Context, on target.Cluster, entry apply.Entry) ([]apply.Object, error) {
	mapping, err := on.Mapping(ctx, entry.Object.GroupVersionKind().GroupKind().WithVersion(""))
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find kind %s: %w", entry.Object.GetKind(), err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameRoot {
		entry.Object.SetNamespace("")
	}
	return []apply.Object{{Entry: entry, Mapping: mapping}}, nil
}

// Marked returns a copy of an object with the marks of a release.
func Marked(object *unstructured.Unstructured, name, namespace string) *unstructured.Unstructured {
	object = object.DeepCopy()
	labels, annotations := object.GetLabels(), object.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[managedByLabel] = managedByHelm
	annotations[releaseAnnotation], annotations[namespaceAnnotation] = name, namespace
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
	return object
}

// owned reports whether an object belongs to a release.
func owned(object *unstructured.Unstructured, name, namespace string) bool {
	annotations := object.GetAnnotations()
	return object.GetLabels()[managedByLabel] == managedByHelm && annotations[releaseAnnotation] == name && annotations[namespaceAnnotation] == namespace
}

// Kept reports whether an object is to stay when its release goes.
func Kept(object *unstructured.Unstructured) bool {
	return strings.EqualFold(strings.TrimSpace(object.GetAnnotations()[policyAnnotation]), keepPolicy)
}

// forRemoval brings objects into the order in which Helm removes them.
func forRemoval(objects []apply.Object) []apply.Object {
	rank := func(object apply.Object) int {
		if at := slices.Index(releaseutil.UninstallOrder, object.Object.GetKind()); at >= 0 {
			return at
		}
		return len(releaseutil.UninstallOrder)
	}
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b apply.Object) int { return rank(a) - rank(b) })
	return sorted
}
