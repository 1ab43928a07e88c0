// Package objects makes what a shoot gets besides Flux: namespaces, source and
// kustomization, Secrets, and what there is to know about the shoot.
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
	// copyLabels is an annotation of a Secret whose labels go with it.
	copyLabels = "gardener-extension-shoot-flux/copy-labels"
	// keepAnnotation lets an object stay when nobody asks for it any more.
	keepAnnotation = "resources.gardener.cloud/keep-object"
)

// clusterNamespaces are in each cluster, and belong to it.
var clusterNamespaces = []string{"", "default", "kube-system", "kube-public", "kube-node-lease"}

// Configuration returns what tells Flux what to do, with the namespaces that this and
// the Secrets need. The configuration has been resolved.
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

// namespace is created if it is missing, and left alone from then on: others may have
// made it, live in it, and would go with it.
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

// Secret returns a copy of a Secret for a place in the shoot. Labels go with it if it
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

// Info is what kustomizations of a shoot may want to know about it.
type Info struct {
	Name, TechnicalID string
	// ClusterIdentity is "" as long as the shoot has none.
	ClusterIdentity       string
	GardenClusterIdentity string
	// PublicKey is the public part of a generated key, "" if there is none.
	PublicKey string
}

// ShootInfo returns the ConfigMap with what there is to know, without what is not
// known yet.
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
