package scenario

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/test/landscape"
)

// WaitFor watches an Installation until a condition holds and returns it.
func (w *World) WaitFor(t *testing.T, key client.ObjectKey, what string, condition func(*v1alpha1.Installation) bool) *v1alpha1.Installation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), WaitLimit)
	defer cancel()
	var last *v1alpha1.Installation
	for {
		events, err := w.Admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(key.Namespace), client.MatchingFields{"metadata.name": key.Name})
		if err != nil {
			t.Fatalf("waiting until %s %s: %v", key, what, err)
		}
		for event := range events.ResultChan() {
			if inst, ok := event.Object.(*v1alpha1.Installation); ok {
				last = inst
				if condition(inst) {
					events.Stop()
					return inst
				}
			}
		}
		if ctx.Err() != nil {
			text, err := yaml.Marshal(last)
			t.Fatalf("%s is not %s (%v):\n%s", key, what, err, text)
		}
	}
}

// WaitFinished waits until the job of an Installation has ended after the given
// job, and returns the Installation.
func (w *World) WaitFinished(t *testing.T, inst *v1alpha1.Installation, after string) *v1alpha1.Installation {
	t.Helper()
	return w.WaitFor(t, client.ObjectKeyFromObject(inst), "finished", func(inst *v1alpha1.Installation) bool {
		return inst.Status.JobID != after && inst.Status.JobID != "" && inst.Status.JobIDFinished == inst.Status.JobID
	})
}

// WaitSucceeded waits until the first job of an Installation has succeeded.
func (w *World) WaitSucceeded(t *testing.T, inst *v1alpha1.Installation) *v1alpha1.Installation {
	t.Helper()
	return w.WaitDone(t, inst, "")
}

// WaitDone waits until the job of an Installation after the given job has succeeded.
func (w *World) WaitDone(t *testing.T, inst *v1alpha1.Installation, after string) *v1alpha1.Installation {
	t.Helper()
	finished := w.WaitFinished(t, inst, after)
	if finished.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Fatalf("%s ended in phase %s: %+v", inst.Name, finished.Status.InstallationPhase, finished.Status.LastError)
	}
	return finished
}

// WaitItem watches a DeployItem, or those of a namespace if no name is given, until a condition holds,
// and returns the DeployItem for which it does.
func (w *World) WaitItem(t *testing.T, item *v1alpha1.DeployItem, what string, condition func(*v1alpha1.DeployItem) bool) *v1alpha1.DeployItem {
	t.Helper()
	options := []client.ListOption{client.InNamespace(item.Namespace)}
	if item.Name != "" {
		options = append(options, client.MatchingFields{"metadata.name": item.Name})
	}
	ctx, cancel := context.WithTimeout(t.Context(), WaitLimit)
	defer cancel()
	events, err := w.Admin.Watch(ctx, &v1alpha1.DeployItemList{}, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	var last v1alpha1.DeployItemStatus
	for event := range events.ResultChan() {
		current, ok := event.Object.(*v1alpha1.DeployItem)
		if !ok {
			continue
		}
		if condition(current) {
			return current
		}
		last = current.Status
	}
	t.Fatalf("after %s, item %q in %s is not %s: phase %q, conditions %+v", WaitLimit, item.Name, item.Namespace, what, last.Phase, last.Conditions)
	return nil
}

// WaitShownAbove waits until everything above a DeployItem, up to the root, shows a text in its
// condition Ready. What the root shows comes from the DeployItem itself, and those between them may
// write theirs after it: nothing is written for this wait only when all of them have.
func (w *World) WaitShownAbove(t *testing.T, item *v1alpha1.DeployItem, text string) {
	t.Helper()
	for owner := metav1.GetControllerOf(item); owner != nil; {
		owner = metav1.GetControllerOf(w.waitShown(t, client.ObjectKey{Namespace: item.Namespace, Name: owner.Name}, owner.Kind, text))
	}
}

// waitShown watches an Installation or an Execution until it shows a text, and returns it.
func (w *World) waitShown(t *testing.T, key client.ObjectKey, kind, text string) client.Object {
	t.Helper()
	var list client.ObjectList = &v1alpha1.InstallationList{}
	if kind == "Execution" {
		list = &v1alpha1.ExecutionList{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), WaitLimit)
	defer cancel()
	events, err := w.Admin.Watch(ctx, list, client.InNamespace(key.Namespace), client.MatchingFields{"metadata.name": key.Name})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	last := "nothing"
	for event := range events.ResultChan() {
		var conditions []v1alpha1.Condition
		switch object := event.Object.(type) {
		case *v1alpha1.Installation:
			conditions = object.Status.Conditions
		case *v1alpha1.Execution:
			conditions = object.Status.Conditions
		}
		if ready := job.GetCondition(conditions, v1alpha1.ReadyCondition); ready != nil {
			if last = ready.Message; strings.Contains(last, text) {
				return event.Object.(client.Object)
			}
		}
	}
	t.Fatalf("after %s, %s %s does not show %q, but %q", WaitLimit, kind, key, text, last)
	return nil
}

// WaitGone watches until an object is deleted.
func WaitGone(t *testing.T, cluster client.WithWatch, object client.Object, list client.ObjectList) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), WaitLimit)
	defer cancel()
	events, err := cluster.Watch(ctx, list, client.InNamespace(object.GetNamespace()), client.MatchingFields{"metadata.name": object.GetName()})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if err := cluster.Get(ctx, client.ObjectKeyFromObject(object), object); client.IgnoreNotFound(err) == nil && err != nil {
		return
	}
	for event := range events.ResultChan() {
		if event.Type == "DELETED" {
			return
		}
	}
	t.Fatalf("%T %s is still there", object, object.GetName())
}

// WaitNone returns when no object of a kind is left on the resource cluster.
func (w *World) WaitNone(t *testing.T, list client.ObjectList, options ...client.ListOption) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), WaitLimit)
	defer cancel()
	events, err := w.Admin.Watch(ctx, list, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	for {
		if err := w.Admin.List(ctx, list, options...); err != nil {
			t.Fatalf("waiting until nothing is left: %v", err)
		}
		if meta.LenList(list) == 0 {
			return
		}
		<-events.ResultChan()
	}
}

// WaitForContext returns when the default Context of a namespace is there.
func (w *World) WaitForContext(t *testing.T, namespace string) {
	t.Helper()
	events, err := w.Admin.Watch(t.Context(), &v1alpha1.ContextList{}, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if err := w.Admin.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: v1alpha1.DefaultContextName}, &v1alpha1.Context{}); err == nil {
		return
	}
	<-events.ResultChan()
}

// Busy lets some Installations do their work, one after the other.
func (w *World) Busy(t *testing.T, space, name string) {
	t.Helper()
	for i := range 5 {
		w.WaitSucceeded(t, w.Create(t, landscape.NewInstallation(space, fmt.Sprintf("%s-%d", name, i), landscape.OneConfigMap)))
	}
}

// WantNoRequests lets others do their work, and checks that nothing is requested for a
// namespace meanwhile.
func (w *World) WantNoRequests(t *testing.T, space string) {
	t.Helper()
	others := w.Namespace(t)
	w.WaitForContext(t, others)
	// After another job, the server has handled the last events and written its own.
	w.Busy(t, others, "before")
	mark, err := w.Resource.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Busy(t, others, "busy")
	requests, err := w.Resource.Requests(t.Context(), mark, ServerUser)
	if err != nil {
		t.Fatal(err)
	}
	if len(requests) < 50 {
		t.Errorf("only %d requests of the others: this shows nothing", len(requests))
	}
	for _, request := range requests {
		if request.Namespace == space || strings.Contains(request.Path, "/"+space+"/") {
			t.Errorf("a request although nothing has changed: %s %s", request.Verb, request.Path)
		}
	}
}

// Again stores a specification, asks for a job, and returns the Installation at its
// end.
func (w *World) Again(t *testing.T, inst *v1alpha1.Installation, spec v1alpha1.InstallationSpec, phase v1alpha1.InstallationPhase) *v1alpha1.Installation {
	t.Helper()
	var current *v1alpha1.Installation
	var before string
	// The server may still be writing what follows from the last job.
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		current = w.Installation(t, inst)
		before = current.Status.JobID
		current.Spec = spec
		current.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
		return w.Admin.Update(t.Context(), current)
	})
	if err != nil {
		t.Fatal(err)
	}
	done := w.WaitFinished(t, current, before)
	if done.Status.InstallationPhase != phase {
		t.Fatalf("%s is %s, want %s: %+v", inst.Name, done.Status.InstallationPhase, phase, done.Status.LastError)
	}
	return done
}
