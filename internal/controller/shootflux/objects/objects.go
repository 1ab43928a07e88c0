// Package objects builds the objects of a shoot besides Flux: namespaces, source and kustomization,
// Secrets, and the information about the shoot.
package objects

import (
	"encoding/base64"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/internal/controller/shootflux/config"
	"go.landscaper.dev/internal/controller/shootflux/gardener"
	"go.landscaper.dev/internal/controller/shootflux/sshkey"
)

const (
	managerLabel = "app.kubernetes.io/managed-by"
	manager      = "gardener-extension-shoot-flux"
	// copyLabels is an annotation of a Secret whose labels are copied with it.
	copyLabels = "gardener-extension-shoot-flux/copy-labels"
	// keepAnnotation lets an object stay when it is not wanted any more.
	keepAnnotation = "resources.gardener.cloud/keep-object"
)

// clusterNamespaces are in each cluster, and belong to it.
var clusterNamespaces = []string{"", "default", "kube-system", "kube-public", "kube-node-lease"}

// Configuration returns source and kustomization of Flux, with the namespaces of these and of the
// Secrets. The configuration must be resolved.
func Configuration(c *config.Config) []*unstructured.Unstructured {
	var names []string
	for _, secret := range c.AdditionalSecrets {
		names = append(names, secret.TargetNamespace)
	}
	if c.Source != nil {
		target, _, _ := unstructured.NestedString(c.Kustomization.Object, "spec", "targetNamespace")
		names = append(names, c.Source.Object.GetNamespace(), c.Kustomization.GetNamespace(), target)
	}
	slices.Sort(names)
	var objects []*unstructured.Unstructured
	for _, name := range slices.Compact(names) {
		if name != c.Flux.Namespace && !slices.Contains(clusterNamespaces, name) {
			objects = append(objects, namespace(name))
		}
	}
	if c.Source != nil {
		objects = append(objects, c.Source.Object.DeepCopy(), c.Kustomization.DeepCopy())
	}
	return objects
}

// namespace returns a Namespace that is created if it is missing, and never changed or deleted: it
// may have objects of other owners, which would be deleted with it.
func namespace(name string) *unstructured.Unstructured {
	object := made("v1", "Namespace", "", name)
	object.SetAnnotations(map[string]string{gardener.IgnoreAnnotation: "true", keepAnnotation: "true"})
	return object
}

func made(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	object.SetName(name)
	if namespace != "" {
		object.SetNamespace(namespace)
	}
	object.SetLabels(map[string]string{managerLabel: manager})
	return object
}

// Secret returns a copy of a Secret for a place in the shoot. Labels are copied if its annotation
// says so.
func Secret(of *corev1.Secret, namespace, name string) *unstructured.Unstructured {
	object := made("v1", "Secret", namespace, name)
	if of.Annotations[copyLabels] == "true" {
		labels := map[string]string{}
		for label, value := range of.Labels {
			labels[label] = value
		}
		labels[managerLabel] = manager
		object.SetLabels(labels)
	}
	data := map[string]any{}
	for key, value := range sshkey.ForShoot(of.Data) {
		data[key] = base64.StdEncoding.EncodeToString(value)
	}
	object.Object["data"] = data
	if of.Type != "" {
		object.Object["type"] = string(of.Type)
	}
	return object
}

// Info is the information about a shoot for its kustomizations.
type Info struct {
	Name, TechnicalID string
	// ClusterIdentity is "" until the shoot has an identity.
	ClusterIdentity       string
	GardenClusterIdentity string
	// PublicKey is the public part of a generated key, "" without a generated key.
	PublicKey string
}

// ShootInfo returns the ConfigMap with the information, without values that are not known yet.
func ShootInfo(c *config.Config, info Info) *unstructured.Unstructured {
	object := made("v1", "ConfigMap", c.Flux.Namespace, "shoot-info")
	data := map[string]any{}
	for key, value := range map[string]string{
		"SHOOT_INFO_CLUSTER_IDENTITY":        info.ClusterIdentity,
		"SHOOT_INFO_NAME":                    info.Name,
		"SHOOT_INFO_TECHNICAL_ID":            info.TechnicalID,
		"SHOOT_INFO_GARDEN_CLUSTER_IDENTITY": info.GardenClusterIdentity,
		"SHOOT_INFO_FLUX_PUBLIC_KEY":         info.PublicKey,
	} {
		if value != "" {
			data[key] = value
		}
	}
	object.Object["data"] = data
	return object
}
