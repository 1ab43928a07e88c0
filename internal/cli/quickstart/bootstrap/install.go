package bootstrap

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/server/install"
)

const fieldOwner = "landscaper-cli"

// Install installs the CRDs, the policies and objects into a namespace.
func Install(ctx context.Context, c client.WithWatch, namespace string, options install.Options, objects []*unstructured.Unstructured, out io.Writer) error {
	if err := install.Run(ctx, c, options, out); err != nil {
		return err // names the object
	}
	err := c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", namespace, err)
	}
	for _, object := range objects {
		if err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(fieldOwner), client.ForceOwnership); err != nil {
			return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		fmt.Fprintf(out, "%s %s: applied\n", object.GetKind(), object.GetName())
	}
	return nil
}
