package install

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// render makes the objects of an installation from those of the release.
func (r *release) render(o Options) ([]*unstructured.Unstructured, error) {
	objects := []*unstructured.Unstructured{namespace(o.Namespace)}
	for _, component := range o.Components {
		if err := r.check(component); err != nil {
			return nil, err
		}
		objects = append(objects, copies(r.components[component])...)
	}
	for _, role := range copies(r.roles) {
		suffix(role, o.Namespace)
		objects = append(objects, role)
	}
	if o.NetworkPolicy {
		objects = append(objects, copies(r.policies)...)
	}
	for _, object := range objects {
		if err := r.settle(object, o); err != nil {
			return nil, fmt.Errorf("manifests of Flux %s: %s %s: %w", r.version, object.GetKind(), object.GetName(), err)
		}
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return rank(a) - rank(b) })
	return objects, nil
}

// rank is the order in which kinds are applied: dependencies come first.
func rank(object *unstructured.Unstructured) int {
	order := []string{"Namespace", "ResourceQuota", "NetworkPolicy", "ServiceAccount", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding", "Service", "Deployment"}
	if at := slices.Index(order, object.GetKind()); at >= 0 {
		return at
	}
	return len(order)
}

func namespace(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
	object.SetName(name)
	object.SetLabels(map[string]string{"pod-security.kubernetes.io/warn": "restricted", "pod-security.kubernetes.io/warn-version": "latest"})
	return object
}

func copies(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	made := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		made[i] = object.DeepCopy()
	}
	return made
}

// suffix adds the name of the installation to the names of shared objects.
func suffix(role *unstructured.Unstructured, namespace string) {
	named := func(name string) string { return strings.TrimSuffix(name, "-"+DefaultNamespace) + "-" + namespace }
	role.SetName(named(role.GetName()))
	// The role belongs to Kubernetes.
	if referred, found, err := unstructured.NestedString(role.Object, "roleRef", "name"); found && err == nil && referred != "cluster-admin" {
		_ = unstructured.SetNestedField(role.Object, named(referred), "roleRef", "name") // the field exists
	}
}

// settle adapts an object to this installation.
func (r *release) settle(object *unstructured.Unstructured, o Options) error {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	r.label(labels, o)
	object.SetLabels(labels)
	switch object.GetKind() {
	case "Namespace", "CustomResourceDefinition", "ClusterRole":
	case "ClusterRoleBinding":
		return subjects(object, o.Namespace)
	case "Deployment":
		object.SetNamespace(o.Namespace)
		return r.deployment(object, o)
	default:
		object.SetNamespace(o.Namespace)
	}
	return nil
}

func (r *release) label(labels map[string]string, o Options) {
	labels[labelInstance], labels[labelVersion], labels[labelPartOf] = o.Namespace, r.version, "flux"
}

// subjects sets the namespace of the ServiceAccounts of the controllers.
func subjects(binding *unstructured.Unstructured, namespace string) error {
	listed, _, err := unstructured.NestedSlice(binding.Object, "subjects")
	if err != nil {
		return err // the caller wraps the error
	}
	for _, entry := range listed {
		if subject, ok := entry.(map[string]any); ok && subject["kind"] == "ServiceAccount" {
			subject["namespace"] = namespace
		}
	}
	return unstructured.SetNestedSlice(binding.Object, listed, "subjects") // the caller wraps the error
}
