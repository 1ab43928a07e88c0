package execution

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/v1alpha1"
)

// claimed reports whether an item that is wanted is still to take over an object of an item
// that is not wanted any more, such as one that was renamed: its manifests name the object,
// for the same Target, and its part of the job has not ended well. The item that goes waits
// for that, so that the object stays.
//
// Manifests count that change an object whoever owns it: only these take it over.
func claimed(s snapshot, wanted, orphans []member) bool {
	var claims []corev1.ObjectReference
	for i := range s.templates {
		item := wanted[i].item
		over := item != nil && item.Status.JobIDFinished == s.exec.Status.JobID && item.Status.Phase == v1alpha1.DeployItemPhases.Succeeded
		if over || s.templates[i].Target == nil {
			continue
		}
		for _, orphan := range orphans {
			if target := orphan.item.Spec.Target; target != nil && target.Name == s.templates[i].Target.Name && !staysInstalled(orphan.item) {
				claims = append(claims, manifestsOf(s.templates[i].Configuration)...)
				break
			}
		}
	}
	return len(claims) > 0 && slices.ContainsFunc(orphans, func(orphan member) bool {
		return slices.ContainsFunc(deployedBy(orphan.item), func(deployed corev1.ObjectReference) bool {
			return slices.ContainsFunc(claims, func(claim corev1.ObjectReference) bool { return sameObject(claim, deployed) })
		})
	})
}

// manifestsOf returns the objects that a configuration with manifests takes over.
func manifestsOf(configuration *runtime.RawExtension) []corev1.ObjectReference {
	var content struct {
		Manifests []struct {
			Policy   string `json:"policy"`
			Manifest struct {
				APIVersion string `json:"apiVersion"`
				Kind       string `json:"kind"`
				Metadata   struct{ Name, Namespace string }
			} `json:"manifest"`
		} `json:"manifests"`
	}
	if configuration == nil || json.Unmarshal(configuration.Raw, &content) != nil {
		return nil
	}
	var found []corev1.ObjectReference
	for _, entry := range content.Manifests {
		if entry.Policy == "" || entry.Policy == "manage" || entry.Policy == "keep" {
			m := entry.Manifest
			found = append(found, corev1.ObjectReference{APIVersion: m.APIVersion, Kind: m.Kind, Namespace: m.Metadata.Namespace, Name: m.Metadata.Name})
		}
	}
	return found
}

// deployedBy returns the objects that an item has recorded.
func deployedBy(item *v1alpha1.DeployItem) []corev1.ObjectReference {
	var recorded struct {
		ManagedResources []struct {
			Resource corev1.ObjectReference `json:"resource"`
		} `json:"managedResources"`
	}
	if item.Status.ProviderStatus == nil || json.Unmarshal(item.Status.ProviderStatus.Raw, &recorded) != nil {
		return nil
	}
	found := make([]corev1.ObjectReference, 0, len(recorded.ManagedResources))
	for _, entry := range recorded.ManagedResources {
		found = append(found, entry.Resource)
	}
	return found
}

func sameObject(a, b corev1.ObjectReference) bool {
	return a.Kind == b.Kind && a.Name == b.Name && a.Namespace == b.Namespace &&
		schema.FromAPIVersionAndKind(a.APIVersion, a.Kind).Group == schema.FromAPIVersionAndKind(b.APIVersion, b.Kind).Group
}
