package preview

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/placement"
	"go.landscaper.dev/internal/runtime/job"
)

// live is what exists, by the paths of Installations in the names of blueprints.
type live map[string]*inspect.Node

func liveTrees(roots []*inspect.Node) live {
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
	for _, root := range roots {
		walk(root, root.Name)
	}
	l.each(func(_ string, item *inspect.Node) { item.DeployItem = withInherited(item.DeployItem) })
	return l
}

// withInherited is an item as its next job finds it: with what other items have left to it.
func withInherited(item *v1alpha1.DeployItem) *v1alpha1.DeployItem {
	recorded, err := placement.WithInherited(item)
	if err != nil || recorded == item.Status.ProviderStatus {
		// The job reports a record that cannot be read.
		return item
	}
	item = item.DeepCopy()
	item.Status.ProviderStatus = recorded
	return item
}

// identify implements plan.Tree.Identify. One that does not exist yet gets the name that its job would
// give it, as far as its parent exists: templates see names of copies, which follow from it.
//
// Without a job, lists and maps of the parent are found whichever job they bear: see
// handedOn in the package dataflow.
func (l live) identify(path string, inst *v1alpha1.Installation) {
	if node := l[path]; node != nil && node.Installation != nil {
		inst.Name, inst.UID, inst.Status.JobID = node.Name, node.Installation.UID, ""
		return
	}
	at := max(strings.LastIndex(path, "/"), 0)
	if node := l[path[:at]]; node != nil && node.Installation != nil {
		inst.Name = job.ChildName(node.Installation.UID, inst.Name, 0)
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

// each visits the items that exist with their paths.
func (l live) each(visit func(path string, item *inspect.Node)) {
	for path, node := range l {
		for _, child := range node.Children {
			for _, item := range child.Children {
				if item.DeployItem != nil {
					visit(path+"/"+cmp.Or(item.TemplateName, item.Name), item)
				}
			}
		}
	}
}

// deployItem returns an item by the name of its object.
func (l live) deployItem(name string) (found *v1alpha1.DeployItem) {
	l.each(func(_ string, item *inspect.Node) {
		if item.Name == name {
			found = item.DeployItem
		}
	})
	return found
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
