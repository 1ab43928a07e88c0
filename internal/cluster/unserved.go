package cluster

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// unserved says that the cluster does not serve a version of a kind at present.
type unserved struct{ kind schema.GroupVersionKind }

// Error implements error.
func (u *unserved) Error() string {
	return fmt.Sprintf("the cluster does not serve kind %s in %s at present", u.kind.Kind, u.kind.GroupVersion())
}

// IsUnserved reports whether the cluster does not serve the version of a kind in which
// it was asked for an object. Nothing is known about the object then; Mapping tells in
// which version to ask.
func IsUnserved(err error) bool {
	var known *unserved
	return errors.As(err, &known)
}

// absent looks at an answer that says that there is no such object. If there is no such
// resource, the kinds of the cluster are not those that are known: it is asked for them,
// and the object is missing only if its kind is.
func (c *Connection) absent(ctx context.Context, mapping *meta.RESTMapping, err error) error {
	// A NotFound about an object has no such cause; one about a path that nobody serves
	// does, see Restate.
	if !apierrors.IsNotFound(err) || !apierrors.IsUnexpectedServerError(err) {
		return err
	}
	before, other := c.kinds.known(), mapping.GroupVersionKind.GroupKind().WithVersion("")
	_, kindErr := c.kinds.lookUp(mapping.GroupVersionKind)
	if kindErr == nil {
		_, kindErr = c.kinds.find(ctx, other, before)
	} else {
		// Somebody has asked before: many objects of a kind may go at once.
		_, kindErr = c.kinds.lookUp(other)
	}
	switch {
	case meta.IsNoMatchError(kindErr):
		return err
	case kindErr != nil:
		return kindErr
	}
	return &unserved{mapping.GroupVersionKind}
}
