package ownership

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
)

// KnownWants reports whether the objects that an item wants follow from its configuration alone.
func KnownWants(item *v1alpha1.DeployItem) bool {
	return item.Spec.Type == v1alpha1.ManifestDeployItemType
}

// Lists reports whether the configuration of an item lists an object, so that the item
// deploys it. An object with policy ignore does not belong to the item: it is expected.
func Lists(item *v1alpha1.DeployItem, object corev1.ObjectReference) bool {
	return contains(Listed(item), object)
}

// Listed returns the objects that the configuration of an item lists.
func Listed(item *v1alpha1.DeployItem) []corev1.ObjectReference {
	if !KnownWants(item) {
		return nil
	}
	return manifestsOf(item, func(policy deployer.ManifestPolicy) bool { return policy != deployer.IgnorePolicy })
}

// Expects reports whether an item expects an object to exist.
func Expects(item *v1alpha1.DeployItem, object corev1.ObjectReference) bool {
	return contains(Expected(item), object)
}

// Expected returns the objects that an item wants to exist, although they do not belong to it and
// it never removes them: those with policy ignore, the namespace of a release with createNamespace,
// and what the folders crds of the chart of a release define.
func Expected(item *v1alpha1.DeployItem) []corev1.ObjectReference {
	if KnownWants(item) {
		return manifestsOf(item, func(policy deployer.ManifestPolicy) bool { return policy == deployer.IgnorePolicy })
	}
	if item.Spec.Type != v1alpha1.HelmDeployItemType {
		return nil
	}
	var config struct {
		Namespace       string `json:"namespace"`
		CreateNamespace bool   `json:"createNamespace"`
	}
	var status struct {
		Definitions []corev1.ObjectReference `json:"definitions"`
	}
	if item.Status.ProviderStatus != nil && json.Unmarshal(item.Status.ProviderStatus.Raw, &status) != nil {
		status.Definitions = nil
	}
	refs := status.Definitions
	if item.Spec.Configuration != nil && json.Unmarshal(item.Spec.Configuration.Raw, &config) == nil && config.CreateNamespace {
		refs = append(refs, corev1.ObjectReference{APIVersion: "v1", Kind: "Namespace", Name: config.Namespace})
	}
	return refs
}

func contains(refs []corev1.ObjectReference, object corev1.ObjectReference) bool {
	return slices.ContainsFunc(refs, func(listed corev1.ObjectReference) bool {
		return listed.Kind == object.Kind && listed.Name == object.Name && groupOf(listed.APIVersion) == groupOf(object.APIVersion) &&
			// A namespace in the manifest of an object without one has no effect.
			(object.Namespace == "" || listed.Namespace == object.Namespace)
	})
}

// manifestsOf returns the objects of the manifests of an item that have some policies.
func manifestsOf(item *v1alpha1.DeployItem, chosen func(deployer.ManifestPolicy) bool) []corev1.ObjectReference {
	if item.Spec.Configuration == nil {
		return nil
	}
	var config struct {
		Manifests []json.RawMessage `json:"manifests"`
	}
	if json.Unmarshal(item.Spec.Configuration.Raw, &config) != nil {
		return nil
	}
	var refs []corev1.ObjectReference
	for _, raw := range config.Manifests {
		var entry struct {
			Policy   deployer.ManifestPolicy `json:"policy"`
			Manifest *listed                 `json:"manifest"`
		}
		// In the older version of the configuration, an entry is the object itself.
		if json.Unmarshal(raw, &entry) != nil || entry.Manifest == nil {
			entry.Manifest = &listed{}
			if json.Unmarshal(raw, entry.Manifest) != nil {
				continue
			}
		}
		if chosen(entry.Policy) {
			refs = entry.Manifest.addTo(refs)
		}
	}
	return refs
}

// listed is a manifest, or a list of manifests, as far as it names objects.
type listed struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Items []listed `json:"items"`
}

func (l *listed) addTo(refs []corev1.ObjectReference) []corev1.ObjectReference {
	if l.Metadata.Name == "" && strings.HasSuffix(l.Kind, "List") {
		for i := range l.Items {
			refs = l.Items[i].addTo(refs)
		}
		return refs
	}
	return append(refs, corev1.ObjectReference{APIVersion: l.APIVersion, Kind: l.Kind, Namespace: l.Metadata.Namespace, Name: l.Metadata.Name})
}
