package quickstart

import (
	"context"
	"fmt"
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/install"
)

const fieldOwner = "landscaper-cli"

// Install installs the CRDs, the policies and objects into a namespace.
func Install(ctx context.Context, c client.WithWatch, namespace string, objects []*unstructured.Unstructured, out io.Writer) error {
	if err := install.Run(ctx, c, install.Options{}, out); err != nil {
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

// Removal says what an uninstallation takes away.
type Removal struct {
	Namespace string
	// Objects are those of the chart and of the registry.
	Objects []*unstructured.Unstructured
	// Definitions removes all CRDs with all their objects, without uninstalling what
	// these have deployed. DeleteNamespace also removes the namespace.
	Definitions, DeleteNamespace bool
}

// Uninstall removes what Install has installed. What is gone already is fine.
func Uninstall(ctx context.Context, c client.Client, removal Removal, out io.Writer) error {
	for _, object := range slices.Backward(removal.Objects) {
		if err := remove(ctx, c, object, out); err != nil {
			return err
		}
	}
	if removal.Definitions {
		if err := removeDefinitions(ctx, c, out); err != nil {
			return err
		}
	}
	if !removal.DeleteNamespace {
		return nil
	}
	namespace := &unstructured.Unstructured{}
	namespace.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
	namespace.SetName(removal.Namespace)
	return remove(ctx, c, namespace, out)
}

func remove(ctx context.Context, c client.Client, object *unstructured.Unstructured, out io.Writer) error {
	err := c.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("delete %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	fmt.Fprintf(out, "%s %s: deleted\n", object.GetKind(), object.GetName())
	return nil
}

// removeDefinitions removes the CRDs. The finalizers of their objects go first: nobody is
// there any more who would remove them.
func removeDefinitions(ctx context.Context, c client.Client, out io.Writer) error {
	definitions, err := install.CRDs()
	if err != nil {
		return err // names the file
	}
	for _, definition := range definitions {
		if err := c.Delete(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: definition.Name}}); err != nil {
			if apierrors.IsNotFound(err) {
				continue
			}
			return fmt.Errorf("delete CustomResourceDefinition %s: %w", definition.Name, err)
		}
		if err := freeObjects(ctx, c, definition); err != nil {
			return err
		}
		fmt.Fprintf(out, "CustomResourceDefinition %s: deleted\n", definition.Name)
	}
	policies, err := install.Policies(nil)
	if err != nil {
		return err // names the file
	}
	for _, policy := range policies {
		if err := remove(ctx, c, policy, out); err != nil {
			return err
		}
	}
	return nil
}

// freeObjects removes the finalizers of all objects of a definition.
func freeObjects(ctx context.Context, c client.Client, definition *apiextensionsv1.CustomResourceDefinition) error {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: definition.Spec.Group, Version: definition.Spec.Versions[0].Name, Kind: definition.Spec.Names.Kind + "List"})
	if err := c.List(ctx, list); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("list %s: %w", definition.Name, err)
	}
	for i := range list.Items {
		object := &list.Items[i]
		if len(object.Finalizers) == 0 {
			continue
		}
		err := c.Patch(ctx, object, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("remove the finalizers of %s %s/%s: %w", definition.Spec.Names.Kind, object.Namespace, object.Name, err)
		}
	}
	return nil
}
