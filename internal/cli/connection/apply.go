package connection

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldManager owns the fields that are applied.
const fieldManager = "landscaper-cli"

// Place gives an object without a namespace that of the connection.
func (c *Connection) Place(object *unstructured.Unstructured) error {
	mapping, err := c.Client.RESTMapper().RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
	if err != nil {
		return fmt.Errorf("%s %s: only kinds of Landscaper, and Namespaces, Secrets and ConfigMaps, can be applied here: use kubectl apply for the rest", object.GetKind(), object.GetName())
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace && object.GetNamespace() == "" {
		object.SetNamespace(c.Namespace)
	}
	return nil
}

// Apply applies an object, and returns it as it was before, and the result. With force, it
// takes over fields that another client has set.
func (c *Connection) Apply(ctx context.Context, object *unstructured.Unstructured, force bool) (before *unstructured.Unstructured, result string, err error) {
	before = &unstructured.Unstructured{}
	before.SetGroupVersionKind(object.GroupVersionKind())
	if err := c.Client.Get(ctx, client.ObjectKeyFromObject(object), before); client.IgnoreNotFound(err) != nil {
		return nil, "", err
	}
	options := []client.ApplyOption{client.FieldOwner(fieldManager)}
	if force {
		options = append(options, client.ForceOwnership)
	}
	if err := c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), options...); err != nil {
		return nil, "", err
	}
	switch {
	case before.GetResourceVersion() == "":
		return before, "created", nil
	case before.GetResourceVersion() == object.GetResourceVersion():
		return before, "unchanged", nil
	}
	return before, "changed", nil
}
