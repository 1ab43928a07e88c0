// Package ancestor reads the Installations above an object.
package ancestor

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// Parent returns the Installation that a reference means, which must not be changed;
// nil if it does not exist.
func Parent(ctx context.Context, reader client.Reader, namespace string, reference metav1.OwnerReference) (*v1alpha1.Installation, error) {
	parent := &v1alpha1.Installation{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: reference.Name}, parent, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err) || err == nil && parent.UID != reference.UID:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read Installation %s/%s: %w", namespace, reference.Name, err)
	}
	return parent, nil
}

// Root returns the root of the tree that an Installation is in, which must not be
// changed, and how far the Installation is below it. It looks no further up than the
// given number of levels.
func Root(ctx context.Context, reader client.Reader, inst *v1alpha1.Installation, most int) (*v1alpha1.Installation, int, error) {
	lineage, err := Lineage(ctx, reader, inst, most)
	if err != nil {
		return nil, 0, err // names the object
	}
	return lineage[0], len(lineage) - 1, nil
}

// Lineage returns the Installations from the root of a tree to one of it, which must not
// be changed. It looks no further up than the given number of levels.
//
// The bound is for owner references that lead in a cycle: anybody may write them.
func Lineage(ctx context.Context, reader client.Reader, inst *v1alpha1.Installation, most int) ([]*v1alpha1.Installation, error) {
	lineage := []*v1alpha1.Installation{inst}
	for range most {
		reference, ok := job.OwnerOf(inst, "Installation")
		if !ok {
			break
		}
		parent, err := Parent(ctx, reader, inst.Namespace, reference)
		if err != nil {
			return nil, err
		}
		if parent == nil {
			break
		}
		lineage, inst = append(lineage, parent), parent
	}
	slices.Reverse(lineage)
	return lineage, nil
}
