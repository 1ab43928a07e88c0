package preview

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/given"
	"go.landscaper.dev/internal/model/ownership"
)

// outlook is what is known around an item. It implements rollout.Outlook.
type outlook struct {
	*comparison
	task       *task
	connection *cluster.Connection
}

// connect connects to the cluster of the item.
func (o *outlook) connect(ctx context.Context) error {
	t := o.task
	if t.target == nil {
		found, err := o.targetOf(ctx, t.object.Spec.Target.Name)
		if substitute, failed := o.substitute(ctx, err); failed != nil {
			return failed
		} else if substitute != nil {
			o.use(substitute)
			return nil
		}
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("the Target %s does not exist", t.item.Target)
		}
		if err != nil {
			return fmt.Errorf("read the Target: %w", err)
		}
		t.target = found
	}
	connection, err := o.connector().Connect(ctx, t.target)
	if err != nil {
		return err
	}
	o.use(connection)
	return nil
}

// use works with a connection to the cluster of the item.
func (o *outlook) use(connection *cluster.Connection) {
	o.connection, o.task.connection, o.task.on = connection, connection, connection.Server()
}

func (o *outlook) targetOf(ctx context.Context, name string) (*v1alpha1.Target, error) {
	found := &v1alpha1.Target{}
	return found, o.future.Get(ctx, client.ObjectKey{Namespace: o.task.object.Namespace, Name: name}, found)
}

// ClusterOf implements rollout.Outlook.
func (o *outlook) ClusterOf(ctx context.Context, targetName string) (target.Cluster, error) {
	if err := given.CheckTarget(o.task.object, targetName); err != nil {
		return nil, err // names the item
	}
	other, err := o.targetOf(ctx, targetName)
	if err != nil {
		return nil, fmt.Errorf("read the Target %s: %w", targetName, err)
	}
	connection, err := o.connector().Connect(ctx, other)
	if err != nil {
		return nil, err
	}
	return target.On(connection), nil
}

// Planned implements rollout.Outlook: what was compared before has its turn before. An object
// that one item gives up and another one wants stays.
func (o *outlook) Planned(on target.Cluster, reference corev1.ObjectReference) (diff.Object, bool) {
	o.lock.Lock()
	defer o.lock.Unlock()
	for _, givenUp := range []bool{false, true} {
		for _, other := range slices.Backward(o.order) {
			if other == o.task || other.on != on.Server() {
				continue
			}
			for _, object := range other.found.Objects {
				if (object.Before != nil || object.After != nil) && apply.Same(object.Reference(), reference) && givenUp == (other.removal || object.Unwanted) {
					return object, !givenUp || !o.isListed(reference)
				}
			}
		}
	}
	return diff.Object{}, false
}

// isListed reports whether the configuration of an item lists an object.
func (o *outlook) isListed(reference corev1.ObjectReference) bool {
	for _, t := range o.known {
		if t.object != nil && ownership.Lists(t.object, reference) {
			return true
		}
	}
	return false
}
