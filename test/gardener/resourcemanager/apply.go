package resourcemanager

import (
	"context"
	"errors"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// references are those of the objects, and of those that are dropped from management.
func (m *Manager) references(objects []*unstructured.Unstructured) (contained, dropped []reference) {
	for _, object := range objects {
		made := reference{
			APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Name: object.GetName(), Namespace: object.GetNamespace(),
			Labels: object.GetLabels(), Annotations: object.GetAnnotations(),
		}
		if object.GetAnnotations()[annotationMode] == "Ignore" {
			dropped = append(dropped, made)
			continue
		}
		contained = append(contained, made)
	}
	return contained, dropped
}

// applyAll applies the objects. One that fails does not stop the others.
func (m *Manager) applyAll(ctx context.Context, resource *managedResource, objects []*unstructured.Unstructured) error {
	var errs []error
	for _, object := range objects {
		if object.GetAnnotations()[annotationMode] == "Ignore" {
			continue
		}
		if err := m.apply(ctx, resource, object); err != nil {
			made, _ := m.references([]*unstructured.Unstructured{object})
			errs = append(errs, wrap(made[0], err))
		}
	}
	return errors.Join(errs...)
}

// apply creates an object or changes what is there into it.
func (m *Manager) apply(ctx context.Context, resource *managedResource, object *unstructured.Unstructured) error {
	ignored := object.GetAnnotations()[annotationIgnore] == "true"
	wanted := object.DeepCopy()
	annotations := maps.Clone(wanted.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotationOrigin] = m.originText(resource.key())
	annotations[annotationDescription] = description
	wanted.SetAnnotations(annotations)
	if !ignored {
		inject(wanted, resource.Spec.InjectLabels)
	}
	present := &unstructured.Unstructured{}
	present.SetGroupVersionKind(wanted.GroupVersionKind())
	err := m.shoot.Get(ctx, client.ObjectKeyFromObject(wanted), present)
	if apierrors.IsNotFound(err) {
		return m.shoot.Create(ctx, wanted)
	}
	if err != nil || ignored {
		return err
	}
	if present.GetDeletionTimestamp() != nil {
		return errors.New("it is being deleted")
	}
	merged := merge(present, wanted, isTrue(resource.Spec.ForceOverwriteLabels), isTrue(resource.Spec.ForceOverwriteAnnotations))
	// What others have added is removed. An update that changes nothing is free, except for CRDs,
	// which the API server processes again.
	if present.GetKind() == "CustomResourceDefinition" && contains(present.Object, merged.Object) {
		return nil
	}
	err = m.shoot.Update(ctx, merged)
	if apierrors.IsInvalid(err) && object.GetAnnotations()[annotationRecreate] == "true" {
		if err := m.shoot.Delete(ctx, present); err != nil {
			return err
		}
		return errors.New("it is deleted, because it cannot be changed")
	}
	return err
}

// inject adds labels to an object and to the pods that it makes.
func inject(object *unstructured.Unstructured, labels map[string]string) {
	all := map[string]string{labelManagedBy: "gardener"}
	maps.Copy(all, object.GetLabels())
	maps.Copy(all, labels)
	object.SetLabels(all)
	if len(labels) == 0 {
		return
	}
	if _, found, err := unstructured.NestedMap(object.Object, "spec", "template", "spec"); err != nil || !found {
		return
	}
	template, _, _ := unstructured.NestedStringMap(object.Object, "spec", "template", "metadata", "labels")
	if template == nil {
		template = map[string]string{}
	}
	maps.Copy(template, labels)
	_ = unstructured.SetNestedStringMap(object.Object, template, "spec", "template", "metadata", "labels") // the template is there
}

// merge makes what is there what is wanted. Metadata and status of what is there stay;
// so do fields that a cluster fills in.
func merge(present, wanted *unstructured.Unstructured, onlyLabels, onlyAnnotations bool) *unstructured.Unstructured {
	merged := wanted.DeepCopy()
	metadata, _, _ := unstructured.NestedMap(present.Object, "metadata")
	merged.Object["metadata"] = metadata
	labels, annotations := map[string]string{}, map[string]string{}
	if !onlyLabels {
		maps.Copy(labels, present.GetLabels())
	}
	if !onlyAnnotations {
		maps.Copy(annotations, present.GetAnnotations())
	}
	maps.Copy(labels, wanted.GetLabels())
	maps.Copy(annotations, wanted.GetAnnotations())
	merged.SetLabels(labels)
	merged.SetAnnotations(annotations)
	if status, found := present.Object["status"]; found {
		merged.Object["status"] = status
	}
	switch present.GetKind() {
	case "ServiceAccount":
		keep(present, merged, "secrets")
		keep(present, merged, "imagePullSecrets")
	case "Service":
		keep(present, merged, "spec", "clusterIP")
		keep(present, merged, "spec", "clusterIPs")
	case "Deployment", "StatefulSet":
		const restarted = "kubectl.kubernetes.io/restartedAt"
		keep(present, merged, "spec", "template", "metadata", "annotations", restarted)
	}
	return merged
}

// keep takes a field over that is not wanted otherwise.
func keep(present, merged *unstructured.Unstructured, path ...string) {
	value, found, err := unstructured.NestedFieldCopy(present.Object, path...)
	if err != nil || !found {
		return
	}
	if _, wanted, _ := unstructured.NestedFieldNoCopy(merged.Object, path...); !wanted {
		_ = unstructured.SetNestedField(merged.Object, value, path...) // what is above it is there in both
	}
}

// contains says that a cluster has what is wanted: fields that it has filled in by itself do
// not count.
func contains(present, wanted any) bool {
	switch wanted := wanted.(type) {
	case map[string]any:
		present, ok := present.(map[string]any)
		if !ok {
			return len(wanted) == 0
		}
		for key, value := range wanted {
			if !contains(present[key], value) {
				return false
			}
		}
		return true
	case []any:
		present, ok := present.([]any)
		if !ok || len(present) != len(wanted) {
			return false
		}
		for i := range wanted {
			if !contains(present[i], wanted[i]) {
				return false
			}
		}
		return true
	case int64, float64:
		return number(present) == number(wanted)
	}
	return present == wanted
}

func number(value any) float64 {
	switch value := value.(type) {
	case int64:
		return float64(value)
	case float64:
		return value
	}
	return -1
}
