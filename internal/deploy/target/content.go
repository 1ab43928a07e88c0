package target

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/model/ownership"
)

// ContentOn looks up on a cluster what is in a Namespace, or of a kind.
func ContentOn(cluster Cluster) ownership.Cluster { return content{cluster} }

type content struct{ Cluster }

// Look implements ownership.Cluster.
func (c content) Look(ctx context.Context, object corev1.ObjectReference) (*unstructured.Unstructured, error) {
	live, err := c.look(ctx, object)
	if err != nil {
		return nil, fmt.Errorf("look at %s %s: %w", object.Kind, object.Name, err)
	}
	return live, nil
}

func (c content) look(ctx context.Context, object corev1.ObjectReference) (*unstructured.Unstructured, error) {
	mapping, err := c.mapping(ctx, schema.FromAPIVersionAndKind(object.APIVersion, object.Kind).GroupKind())
	if mapping == nil || err != nil {
		return nil, err
	}
	live, err := c.Get(ctx, mapping, object.Namespace, object.Name)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case apierrors.IsForbidden(err):
		// The client of another item has deployed it.
		return &unstructured.Unstructured{}, nil
	}
	return live, err
}

// Resources implements ownership.Cluster.
func (c content) Resources(ctx context.Context, kind schema.GroupKind) ([]*unstructured.Unstructured, error) {
	mapping, err := c.mapping(ctx, kind)
	if mapping == nil || err != nil {
		return nil, err
	}
	found, err := c.ListMetadata(ctx, mapping, "")
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, fmt.Errorf("list the resources of kind %s: %w", kind.Kind, err)
	}
	return found, nil
}

// mapping finds a kind in any version, nil if the cluster does not know it.
func (c content) mapping(ctx context.Context, kind schema.GroupKind) (*meta.RESTMapping, error) {
	mapping, err := c.Mapping(ctx, kind.WithVersion(""))
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	return mapping, err
}
