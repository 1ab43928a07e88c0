// Package ownership decides which DeployItem owns an object on a target cluster, and what becomes
// of an object that its DeployItem does not want any more: another DeployItem may take it over, so
// that the object stays with its identity and its data. It reads objects and DeployItems, and
// writes nothing.
package ownership

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/v1alpha1"
)

// The labels by which deployers mark their objects with the name of the DeployItem. Objects
// of Helm templates have both of the first two.
const (
	ManifestLabel  = "manifest.deployer.landscaper.gardener.cloud/deployitem"
	HelmLabel      = "helm.deployer.landscaper.gardener.cloud/deployitem"
	KustomizeLabel = "kustomize.deployer.landscaper.gardener.cloud/deployitem"
)

// The marks of Helm on objects of a release.
const (
	HelmManagedByLabel             = "app.kubernetes.io/managed-by"
	HelmManagedBy                  = "Helm"
	HelmReleaseAnnotation          = "meta.helm.sh/release-name"
	HelmReleaseNamespaceAnnotation = "meta.helm.sh/release-namespace"
)

var labels = []string{ManifestLabel, HelmLabel, KustomizeLabel}

// Others returns the DeployItems other than one that the labels of an object name.
func Others(live *unstructured.Unstructured, self string) []string {
	var others []string
	for _, label := range labels {
		if name := live.GetLabels()[label]; name != "" && name != self && !slices.Contains(others, name) {
			others = append(others, name)
		}
	}
	return others
}

// Marked reports whether any label of a deployer is on an object.
func Marked(live *unstructured.Unstructured) bool {
	return slices.ContainsFunc(labels, func(label string) bool { return live.GetLabels()[label] != "" })
}

// HelmRelease names a release of Helm.
type HelmRelease struct{ Name, Namespace string }

// ReleaseOf returns the release whose marks an object bears, or the zero value.
func ReleaseOf(live *unstructured.Unstructured) HelmRelease {
	annotations := live.GetAnnotations()
	of := HelmRelease{annotations[HelmReleaseAnnotation], annotations[HelmReleaseNamespaceAnnotation]}
	if live.GetLabels()[HelmManagedByLabel] != HelmManagedBy || of.Name == "" || of.Namespace == "" {
		return HelmRelease{}
	}
	return of
}

// IsReleased reports whether the DeployItem of an object does not want it any more and has
// kept it for another one to take over.
func IsReleased(live *unstructured.Unstructured) bool {
	return live.GetAnnotations()[v1alpha1.ReleasedByAnnotation] != ""
}

// Transfer returns the merge patch that makes an object one of another DeployItem, in the version
// that was read. The marks of all other owners are removed.
func Transfer(live *unstructured.Unstructured, label, item string) ([]byte, error) {
	changed := map[string]any{label: item}
	for key, value := range live.GetLabels() {
		if key != label && (slices.Contains(labels, key) || key == HelmManagedByLabel && value == HelmManagedBy) {
			changed[key] = nil
		}
	}
	gone := map[string]any{}
	for key := range live.GetAnnotations() {
		if slices.Contains([]string{v1alpha1.ReleasedByAnnotation, HelmReleaseAnnotation, HelmReleaseNamespaceAnnotation}, key) {
			gone[key] = nil
		}
	}
	return patchOf(live, map[string]any{"labels": changed, "annotations": gone})
}

// Release returns the merge patch that says that a DeployItem does not want an object any
// more, in the version that was read.
func Release(live *unstructured.Unstructured, item string) ([]byte, error) {
	return patchOf(live, map[string]any{"annotations": map[string]any{v1alpha1.ReleasedByAnnotation: item}})
}

func patchOf(live *unstructured.Unstructured, metadata map[string]any) ([]byte, error) {
	// The API server refuses the patch if the object has changed since.
	metadata["resourceVersion"], metadata["uid"] = live.GetResourceVersion(), live.GetUID()
	return json.Marshal(map[string]any{"metadata": metadata})
}

// marks are the keys of the labels and annotations of an object that are marks of other owners than
// an item, which keeps some labels. Those of Helm are included unless they are kept.
func marks(object *unstructured.Unstructured, keep func(label string) bool, keepHelm bool) (labelKeys, annotationKeys []string) {
	present, annotations := object.GetLabels(), object.GetAnnotations()
	for _, label := range labels {
		if _, there := present[label]; there && !keep(label) {
			labelKeys = append(labelKeys, label)
		}
	}
	if IsReleased(object) {
		annotationKeys = append(annotationKeys, v1alpha1.ReleasedByAnnotation)
	}
	if keepHelm || annotations[HelmReleaseAnnotation] == "" {
		return labelKeys, annotationKeys
	}
	for _, key := range []string{HelmReleaseAnnotation, HelmReleaseNamespaceAnnotation} {
		if _, there := annotations[key]; there {
			annotationKeys = append(annotationKeys, key)
		}
	}
	if present[HelmManagedByLabel] == HelmManagedBy {
		labelKeys = append(labelKeys, HelmManagedByLabel)
	}
	return labelKeys, annotationKeys
}

// Strip removes the marks of other owners from an object that an item with this label writes: with
// these marks, the object would look like one of theirs. It reports whether there were any.
func Strip(object *unstructured.Unstructured, keep func(label string) bool, keepHelm bool) bool {
	labelKeys, annotationKeys := marks(object, keep, keepHelm)
	if len(labelKeys)+len(annotationKeys) == 0 {
		return false
	}
	found, annotations := object.GetLabels(), object.GetAnnotations()
	for _, key := range labelKeys {
		delete(found, key)
	}
	for _, key := range annotationKeys {
		delete(annotations, key)
	}
	object.SetLabels(found)
	object.SetAnnotations(annotations)
	return true
}

// Stripped returns an object without the marks of other owners: a copy if it has any.
func Stripped(object *unstructured.Unstructured, keep func(label string) bool, keepHelm bool) *unstructured.Unstructured {
	if labelKeys, annotationKeys := marks(object, keep, keepHelm); len(labelKeys)+len(annotationKeys) == 0 {
		return object
	}
	object = object.DeepCopy()
	Strip(object, keep, keepHelm)
	return object
}

// Unmark returns the merge patch that removes the marks of other owners from an object, in the
// version that was read; nil without such marks.
func Unmark(live *unstructured.Unstructured, keep func(label string) bool, keepHelm bool) ([]byte, error) {
	labelKeys, annotationKeys := marks(live, keep, keepHelm)
	if len(labelKeys)+len(annotationKeys) == 0 {
		return nil, nil
	}
	changed := map[string]any{}
	for field, keys := range map[string][]string{"labels": labelKeys, "annotations": annotationKeys} {
		gone := map[string]any{}
		for _, key := range keys {
			gone[key] = nil
		}
		changed[field] = gone
	}
	return patchOf(live, changed)
}

// Abandon returns the merge patch that removes the marks of all owners from an object, in the version
// that was read; nil without such marks.
func Abandon(live *unstructured.Unstructured) ([]byte, error) {
	return Unmark(live, func(string) bool { return false }, false)
}

// Disown returns the merge patch that removes the labels of an item from an object that also
// belongs to another owner, in the version that was read; nil without such labels.
func Disown(live *unstructured.Unstructured, item string) ([]byte, error) {
	gone := map[string]any{}
	for _, label := range labels {
		if live.GetLabels()[label] == item {
			gone[label] = nil
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	return patchOf(live, map[string]any{"labels": gone})
}

// Heir returns the DeployItem that wants an object which another one is about to remove: its
// configuration lists the object. Of several, the first by name. The objects of charts and
// kustomizations are not known before they are rendered; these items take an object over when they
// are applied.
func Heir(others []*v1alpha1.DeployItem, object corev1.ObjectReference) *v1alpha1.DeployItem {
	var heir *v1alpha1.DeployItem
	for _, other := range others {
		if other.DeletionTimestamp == nil && Lists(other, object) && (heir == nil || other.Name < heir.Name) {
			heir = other
		}
	}
	return heir
}
