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

// IsUnserved reports whether the cluster does not serve the version of a kind in which it was asked
// for an object. Nothing is known about the object then; Mapping returns the version to ask for.
func IsUnserved(err error) bool {
	var known *unserved
	return errors.As(err, &known)
}

// absent checks a NotFound. If the resource itself is missing, the known kinds of the cluster are
// outdated: they are read again, and the object is missing only if its kind is.
func (c *Connection) absent(ctx context.Context, mapping *meta.RESTMapping, err error) error {
	// A NotFound about an object has no such cause; a NotFound about a path that is not served
	// does, see Restate.
	if !apierrors.IsNotFound(err) || !apierrors.IsUnexpectedServerError(err) {
		return err
	}
	before, other := c.kinds.known(), mapping.GroupVersionKind.GroupKind().WithVersion("")
	_, kindErr := c.kinds.lookUp(mapping.GroupVersionKind)
	if kindErr == nil {
		_, kindErr = c.kinds.find(ctx, other, before)
	} else {
		// Another caller has asked before: many objects of a kind may be deleted at once.
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
