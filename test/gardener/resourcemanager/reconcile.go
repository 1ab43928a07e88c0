package resourcemanager

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// period is how often everything is applied again at least.
const period = time.Minute

func newLines(text []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(text)) }

// reconcile looks at one ManagedResource.
func (m *Manager) reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	object := newResource()
	if err := m.seed.Get(ctx, request.NamespacedName, object); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	resource, err := decodeResource(object)
	if err != nil {
		return reconcile.Result{}, err
	}
	if resource.Spec.Class != nil && *resource.Spec.Class != "" {
		return reconcile.Result{}, nil // that of another controller
	}
	if resource.DeletionTimestamp != nil {
		return reconcile.Result{}, m.delete(ctx, object, resource)
	}
	if resource.Annotations[annotationIgnore] == "true" {
		next := resource.Status
		next.set(conditionApplied, "True", "ManagedResourceIgnored", "Resource is marked to be ignored")
		next.set(conditionHealthy, "True", "ManagedResourceIgnored", "Resource is marked to be ignored")
		next.set(conditionProgressing, "False", "ManagedResourceIgnored", "Resource is marked to be ignored")
		return reconcile.Result{}, m.report(ctx, object, &next)
	}
	if controllerutil.AddFinalizer(object, finalizer) {
		if err := m.seed.Update(ctx, object); err != nil {
			return reconcile.Result{}, err
		}
	}
	return reconcile.Result{RequeueAfter: period}, m.bring(ctx, object, resource)
}

// bring brings the objects to the shoot and reports their health.
func (m *Manager) bring(ctx context.Context, object *unstructured.Unstructured, resource *managedResource) error {
	next := resource.Status
	found, err := m.read(ctx, resource)
	if err != nil {
		next.set(conditionApplied, "False", "CannotReadSecret", err.Error())
		return errors.Join(err, m.report(ctx, object, &next))
	}
	m.settleKnown(found.objects)
	contained, dropped := m.references(found.objects)
	// Objects that are no longer contained are deleted first.
	pending, err := m.removeOthers(ctx, resource, contained, dropped)
	switch {
	case err != nil:
		next.set(conditionApplied, "False", "DeletionFailed", err.Error())
		return errors.Join(err, m.report(ctx, object, &next))
	case len(pending) > 0:
		next.set(conditionApplied, "Progressing", "DeletionPending", fmt.Sprintf("Waiting for deletion of %v", pending))
		next.set(conditionProgressing, "True", "DeletionPending", "Deletion of old resources is still pending")
		return m.report(ctx, object, &next)
	}
	err = m.applyAll(ctx, resource, found.objects)
	next.Resources, next.SecretsDataChecksum = contained, found.checksum
	switch {
	case err != nil:
		next.set(conditionApplied, "False", "ApplyFailed", err.Error())
		return errors.Join(err, m.report(ctx, object, &next))
	case found.undecodable != nil:
		next.set(conditionApplied, "False", "DecodingFailed", found.undecodable.Error())
	default:
		next.set(conditionApplied, "True", "ApplySucceeded", "All resources are applied.")
	}
	next.ObservedGeneration = resource.Generation
	if err := m.judge(ctx, &next); err != nil {
		return err
	}
	return m.report(ctx, object, &next)
}

// report writes the status if it has changed.
func (m *Manager) report(ctx context.Context, object *unstructured.Unstructured, next *standing) error {
	changed, err := encodeStatus(object, next)
	if err != nil {
		return err
	}
	before, present := object.Object["status"].(map[string]any)
	if present && equality.Semantic.DeepEqual(before, changed.Object["status"]) {
		return nil
	}
	if err := m.seed.Status().Update(ctx, changed); !apierrors.IsConflict(err) {
		return client.IgnoreNotFound(err)
	}
	// Another client has changed the status, and that change triggers a reconcile.
	return nil
}

// delete takes the objects of a ManagedResource away, and then lets it go.
func (m *Manager) delete(ctx context.Context, object *unstructured.Unstructured, resource *managedResource) error {
	if !controllerutil.ContainsFinalizer(object, finalizer) {
		return nil
	}
	if !isTrue(resource.Spec.KeepObjects) {
		next := resource.Status
		pending, err := m.removeOthers(ctx, resource, nil, nil)
		if err != nil {
			next.set(conditionApplied, "False", "DeletionFailed", err.Error())
			return errors.Join(err, m.report(ctx, object, &next))
		}
		if len(pending) > 0 {
			next.set(conditionApplied, "Progressing", "DeletionPending", fmt.Sprintf("Waiting for deletion of %v", pending))
			return m.report(ctx, object, &next)
		}
	}
	controllerutil.RemoveFinalizer(object, finalizer)
	return client.IgnoreNotFound(m.seed.Update(ctx, object))
}
