// Package defaultcontext keeps a Context named default in every namespace, so that
// an Installation which names no Context finds one.
package defaultcontext

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"go.landscaper.dev/api/v1alpha1"
)

// Reconciler keeps the default Contexts.
type Reconciler struct {
	// Client reads from caches and writes to the resource cluster.
	Client client.Client
	// ExcludedNamespaces get no Context.
	ExcludedNamespaces []string
	// Namespaces are the only ones that get a Context, if there are any. They are not watched then:
	// a controller that is confined to namespaces need not see the others.
	Namespaces []string
	// RepositoryContext is the repository that the Contexts name, or nil.
	RepositoryContext *v1alpha1.UnstructuredTypedObject
}

// SetupWithManager watches namespaces and the default Contexts in them, so that one
// that was deleted or changed comes back.
func (r *Reconciler) SetupWithManager(manager ctrl.Manager, options controller.Options) error {
	builder := ctrl.NewControllerManagedBy(manager).Named("context").
		Watches(&v1alpha1.Context{}, handler.EnqueueRequestsFromMapFunc(namespaceOf)).
		WithOptions(options)
	if len(r.Namespaces) > 0 {
		return builder.WatchesRawSource(source.Func(r.enqueueNamespaces)).Complete(r)
	}
	return builder.Watches(namespaceMetadata(), &handler.EnqueueRequestForObject{}).Complete(r)
}

// enqueueNamespaces enqueues each namespace when the controller starts.
func (r *Reconciler) enqueueNamespaces(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	for _, name := range r.Namespaces {
		queue.Add(reconcile.Request{NamespacedName: client.ObjectKey{Name: name}})
	}
	return nil
}

func namespaceMetadata() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
}

func namespaceOf(_ context.Context, object client.Object) []reconcile.Request {
	if object.GetName() != v1alpha1.DefaultContextName {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: object.GetNamespace()}}}
}

// Reconcile makes sure that a namespace has its default Context.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	if slices.Contains(r.ExcludedNamespaces, request.Name) {
		return ctrl.Result{}, nil
	}
	if gone, err := r.gone(ctx, request.Name); gone || err != nil {
		return ctrl.Result{}, err
	}
	live := &v1alpha1.Context{}
	err := r.Client.Get(ctx, client.ObjectKey{Namespace: request.Name, Name: v1alpha1.DefaultContextName}, live)
	if apierrors.IsNotFound(err) {
		return ctrl.Result{}, r.create(ctx, request.Name)
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("read Context default: %w", err)
	}
	if r.RepositoryContext == nil || live.RepositoryContext.Equal(r.RepositoryContext) {
		return ctrl.Result{}, nil
	}
	changed := live.DeepCopy()
	changed.RepositoryContext = r.RepositoryContext
	if err := r.Client.Patch(ctx, changed, client.MergeFrom(live)); err != nil {
		return ctrl.Result{}, fmt.Errorf("set the repository of Context default: %w", err)
	}
	return ctrl.Result{}, nil
}

// gone reports whether a namespace is deleted or about to be. Without a watch of namespaces, the
// API server says so when something is written.
func (r *Reconciler) gone(ctx context.Context, name string) (bool, error) {
	if len(r.Namespaces) > 0 {
		return !slices.Contains(r.Namespaces, name), nil
	}
	namespace := namespaceMetadata()
	if err := r.Client.Get(ctx, client.ObjectKey{Name: name}, namespace); err != nil {
		return true, client.IgnoreNotFound(err)
	}
	return namespace.DeletionTimestamp != nil, nil
}

func (r *Reconciler) create(ctx context.Context, namespace string) error {
	made := &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.DefaultContextName}}
	made.RepositoryContext = r.RepositoryContext
	err := r.Client.Create(ctx, made)
	if apierrors.IsAlreadyExists(err) || apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create Context default: %w", err)
	}
	return nil
}
