package preview

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/inspect"
	"go.landscaper.dev/internal/plain"
	"go.landscaper.dev/internal/plan"
	"go.landscaper.dev/internal/wanted"
)

// live is what exists, by the paths of Installations in the names of blueprints.
type live map[string]*inspect.Node

func liveTree(root *inspect.Node) live {
	l := live{}
	var walk func(node *inspect.Node, path string)
	walk = func(node *inspect.Node, path string) {
		l[path] = node
		for _, child := range node.Children {
			if child.Kind == inspect.KindInstallation {
				walk(child, path+"/"+cmp.Or(child.TemplateName, child.Name))
			}
		}
	}
	walk(root, root.Name)
	return l
}

// identify implements plan.Tree.Identify.
//
// Without a job, lists and maps of the parent are found whichever job they bear: see
// handedOn in the package dataflow.
func (l live) identify(path string, inst *v1alpha1.Installation) {
	if node := l[path]; node != nil && node.Installation != nil {
		inst.Name, inst.UID, inst.Status.JobID = node.Name, node.Installation.UID, ""
	}
}

// execution returns the Execution of an Installation, and its items by the names of the
// blueprint.
func (l live) execution(path string) (*inspect.Node, map[string]*inspect.Node) {
	node := l[path]
	if node == nil {
		return nil, nil
	}
	for _, child := range node.Children {
		if child.Kind == inspect.KindExecution && child.Execution != nil {
			items := map[string]*inspect.Node{}
			for _, item := range child.Children {
				items[item.TemplateName] = item
			}
			return child, items
		}
	}
	return nil, nil
}

// exports tells what the items have exported in their last job. It implements
// plan.Simulation.
type exports struct {
	reader  client.Reader
	live    live
	secrets *secrets
}

// Item implements plan.Simulation.
func (e *exports) Item(ctx context.Context, node *plan.Node, item *v1alpha1.DeployItemTemplate) (any, error) {
	execution, items := e.live.execution(node.Path)
	if execution == nil || items[item.Name] == nil || !items[item.Name].Ready {
		return nil, plan.ErrUnknown
	}
	object := &v1alpha1.DataObject{}
	err := e.reader.Get(ctx, client.ObjectKey{Namespace: execution.Namespace, Name: wanted.ItemExportsName(execution.Execution)}, object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what the items of %s have exported: %w", node.Path, err)
	}
	value, err := plain.FromJSON(object.Data.RawMessage)
	values, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, nil //nolint:nilerr // the cause may quote a value, and nothing else was exported
	}
	e.secrets.addExports(item, values[item.Name])
	return values[item.Name], nil
}

// Installation implements plan.Simulation.
func (e *exports) Installation(context.Context, *plan.Node) (*plan.SimulatedExports, error) {
	return nil, nil
}

// states reads what executors of an Installation have stored. It implements plan.States.
type states struct {
	reader client.Reader
	inst   *v1alpha1.Installation
}

// Read implements plan.States.
func (s states) Read(ctx context.Context, key plan.StateKey) ([]byte, error) {
	secret := &corev1.Secret{}
	err := s.reader.Get(ctx, client.ObjectKey{Namespace: s.inst.Namespace, Name: key.SecretName(s.inst.Name)}, secret)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the state of execution %q: %w", key.Executor, err)
	}
	return secret.Data[plan.StateSecretKey], nil
}
