package rollout

import (
	"cmp"
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/model/ownership"
)

// Changing implements Job: another item of the same Execution that deploys the object on
// the same cluster is still to change it until its part of the job is over, or until
// the request that its manifest has is on the cluster.
func (j itemJob) Changing(ctx context.Context, object corev1.ObjectReference, live *unstructured.Unstructured) (who string, err error) {
	sibling, err := j.Sibling(ctx, func(other *v1alpha1.DeployItem) bool {
		return sameTarget(other, j.DeployItem) && stillToChange(other, object, live)
	})
	if sibling == nil || err != nil {
		return "", err
	}
	return "DeployItem " + sibling.Labels[v1alpha1.ExecutionManagedNameLabel], nil
}

// changing asks the job of the present attempt.
func (r *Rollout) changing(ctx context.Context, object corev1.ObjectReference, live *unstructured.Unstructured) (string, error) {
	return r.job.Changing(ctx, object, live)
}

func sameTarget(a, b *v1alpha1.DeployItem) bool {
	return a.Spec.Target != nil && b.Spec.Target != nil && a.Spec.Target.Name == b.Spec.Target.Name
}

// stillToChange reports whether an item that is not done may change an object. What it
// deploys is in its configuration, or, if that has to be rendered, in the record of what it
// has deployed before: an object that is new is not there before it is as it should be.
//
// When in doubt it is false: then the answer of Flux counts, and is compared with the
// source as it is.
func stillToChange(item *v1alpha1.DeployItem, object corev1.ObjectReference, live *unstructured.Unstructured) bool {
	if manifest := written(item.Spec.Configuration, object); manifest != nil {
		return !readiness.IsRequested(manifest, live)
	}
	return ownership.Records(item, object)
}

// written returns the manifest of an object that is somewhere in a configuration, nil without one.
func written(configuration *runtime.RawExtension, object corev1.ObjectReference) *unstructured.Unstructured {
	var content any
	if configuration == nil || json.Unmarshal(configuration.Raw, &content) != nil {
		return nil
	}
	for open := []any{content}; len(open) > 0; {
		last := open[len(open)-1]
		open = open[:len(open)-1]
		switch value := last.(type) {
		case []any:
			open = append(open, value...)
		case map[string]any:
			if manifest := (&unstructured.Unstructured{Object: value}); apply.Same(named(manifest), object) {
				return manifest
			}
			for _, field := range value {
				open = append(open, field)
			}
		}
	}
	return nil
}

// named is the reference to what a manifest describes.
func named(manifest *unstructured.Unstructured) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: manifest.GetAPIVersion(), Kind: manifest.GetKind(), Name: manifest.GetName(),
		Namespace: cmp.Or(manifest.GetNamespace(), metav1.NamespaceDefault),
	}
}
