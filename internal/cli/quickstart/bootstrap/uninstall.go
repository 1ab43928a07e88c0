package bootstrap

import (
	"context"
	"fmt"
	"io"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/internal/server/install"
)

// Removal says what an uninstallation takes away.
type Removal struct {
	Namespace string
	// Objects are those of the chart and of the registry.
	Objects []*unstructured.Unstructured
	// Definitions removes all CRDs with all their objects, without uninstalling what
	// these have deployed. DeleteNamespace also removes the namespace.
	Definitions, DeleteNamespace bool
	// Wait waits until all objects are deleted, and the Pods have ended.
	Wait bool
}

// Uninstall removes what Install has installed. Objects may be deleted already.
func Uninstall(ctx context.Context, c client.WithWatch, removal Removal, out, progress io.Writer) error {
	going := slices.Clone(removal.Objects)
	slices.Reverse(going)
	for _, object := range going {
		if err := remove(ctx, c, object, removal.Wait, out); err != nil {
			return err
		}
	}
	if removal.Definitions {
		definitions, err := removeDefinitions(ctx, c, out)
		if err != nil {
			return err
		}
		going = append(going, definitions...)
	}
	if removal.DeleteNamespace {
		namespace := newObject(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, removal.Namespace)
		if err := remove(ctx, c, namespace, removal.Wait, out); err != nil {
			return err
		}
		going = append(going, namespace)
	}
	if !removal.Wait {
		return nil
	}
	return waitGone(ctx, c, going, progress)
}

func newObject(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetName(name)
	return object
}

// remove deletes an object. With wholly, the object stays until its dependents are deleted.
func remove(ctx context.Context, c client.Client, object *unstructured.Unstructured, wholly bool, out io.Writer) error {
	policy := metav1.DeletePropagationBackground
	if wholly {
		policy = metav1.DeletePropagationForeground
	}
	err := c.Delete(ctx, object, client.PropagationPolicy(policy))
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("delete %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	fmt.Fprintf(out, "%s %s: deleted\n", object.GetKind(), object.GetName())
	return nil
}

// removeDefinitions removes the CRDs. The finalizers of their objects are removed first: no
// controller is left that would remove them.
func removeDefinitions(ctx context.Context, c client.Client, out io.Writer) ([]*unstructured.Unstructured, error) {
	definitions, err := install.AllCRDs()
	if err != nil {
		return nil, err // names the file
	}
	var going []*unstructured.Unstructured
	for _, definition := range definitions {
		going = append(going, newObject(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), definition.Name))
		if err := c.Delete(ctx, &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: definition.Name}}); err != nil {
			if apierrors.IsNotFound(err) {
				continue
			}
			return nil, fmt.Errorf("delete CustomResourceDefinition %s: %w", definition.Name, err)
		}
		if err := freeObjects(ctx, c, definition); err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "CustomResourceDefinition %s: deleted\n", definition.Name)
	}
	policies, err := install.AllPolicies()
	if err != nil {
		return nil, err // names the file
	}
	for _, policy := range policies {
		if err := remove(ctx, c, policy, false, out); err != nil {
			return nil, err
		}
	}
	return going, nil
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
