package trees

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/model/store"
	"go.landscaper.dev/test/model/world"
)

// Tell passes an event to a controller: it is what the controllers watch.
func (t *Trees) Tell(name string, c store.Change) {
	object := c.After
	if object == nil {
		object = c.Before
	}
	l := t.Lanes[name]
	switch object := object.(type) {
	case *v1alpha1.Installation:
		if name == "installation" {
			t.enqueueInstallations(l, c)
		} else if object.Status.ExecutionReference != nil || object.DeletionTimestamp != nil || object.Status.JobID == object.Status.JobIDFinished {
			l.Add(c.Key)
		}
	case *v1alpha1.Execution:
		l.Add(c.Key)
	case *v1alpha1.DeployItem:
		if name == "deployer" {
			t.Handle(t.items, c, nil)
			l.Add(c.Key)
		} else if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == "Execution" {
			l.Add(types.NamespacedName{Namespace: c.Key.Namespace, Name: owner.Name})
		}
	}
}

// enqueueInstallations enqueues an Installation that has changed, and those that wait for it.
func (t *Trees) enqueueInstallations(l *world.Lane, c store.Change) {
	l.Add(c.Key)
	before, _ := c.Before.(*v1alpha1.Installation)
	after, _ := c.After.(*v1alpha1.Installation)
	for _, triggered := range t.installations.Enqueued(context.Background(), before, after) {
		l.Add(triggered.NamespacedName)
	}
}
