// Package resourcemanager is test equipment: it does with the ManagedResources of one namespace of
// a seed what Gardener's resource manager documents to do with them. It applies their objects to a
// shoot, judges their health, deletes what is no longer contained, deletes, and makes tokens for
// those who request them.
//
// It reconciles on changes of ManagedResources, of their Secrets and of workloads on the shoot, and
// once a minute, as the original does. What it leaves out: classes other than that of shoots,
// equivalences, autoscalers, claims of StatefulSets, and the collector of garbage.
package resourcemanager

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/cluster"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"go.landscaper.dev/internal/server/install"
)

// Options say where a resource manager works.
type Options struct {
	// Seed and Shoot are kubeconfigs.
	Seed, Shoot string
	// Namespace is that of the shoot on the seed.
	Namespace string
	// Identity is the name of the seed cluster in origins of objects; it may be empty.
	Identity string
}

// Manager is a resource manager that runs.
type Manager struct {
	options Options
	seed    client.Client
	shoot   client.WithWatch

	// triggers are ManagedResources to reconcile again.
	triggers chan event.GenericEvent
	mutex    sync.Mutex
	waits    map[string]bool
	stop     context.CancelFunc
	ended    chan struct{}
	result   error
}

// Start starts a resource manager. It ends with Stop, or with the context.
func Start(ctx context.Context, options Options) (*Manager, error) {
	ctx, stop := context.WithCancel(ctx)
	m := &Manager{options: options, triggers: make(chan event.GenericEvent, 100), waits: map[string]bool{}, stop: stop, ended: make(chan struct{})}
	runs, err := m.assemble()
	if err != nil {
		stop()
		return nil, fmt.Errorf("start a resource manager for %s: %w", options.Namespace, err)
	}
	go func() {
		defer close(m.ended)
		m.result = runs.Start(ctx)
	}()
	return m, nil
}

// Stop ends the resource manager.
func (m *Manager) Stop() error {
	m.stop()
	<-m.ended
	return m.result
}

func connect(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return config, nil
}

// assemble builds the controllers.
func (m *Manager) assemble() (manager.Manager, error) {
	seed, seedErr := connect(m.options.Seed)
	shoot, shootErr := connect(m.options.Shoot)
	if err := errors.Join(seedErr, shootErr); err != nil {
		return nil, err
	}
	runs, err := manager.New(seed, manager.Options{
		Scheme: install.Scheme(), Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{m.options.Namespace: {}}},
	})
	if err != nil {
		return nil, err
	}
	target, err := cluster.New(shoot, func(o *cluster.Options) { o.Scheme, o.Logger = install.Scheme(), logr.Discard() })
	if err != nil {
		return nil, err
	}
	if err := runs.Add(target); err != nil {
		return nil, err
	}
	if m.seed, err = client.New(seed, client.Options{Scheme: install.Scheme()}); err != nil {
		return nil, err
	}
	if m.shoot, err = client.NewWithWatch(shoot, client.Options{Scheme: install.Scheme()}); err != nil {
		return nil, err
	}
	if err := m.watchResources(runs, target); err != nil {
		return nil, err
	}
	return runs, m.watchTokens(runs)
}

// watchResources lets what changes wake the ManagedResources.
func (m *Manager) watchResources(runs manager.Manager, target cluster.Cluster) error {
	unskipped := true
	made, err := controller.New("resources", runs, controller.Options{
		Reconciler: reconcile.Func(m.reconcile), MaxConcurrentReconciles: 3, SkipNameValidation: &unskipped, LogConstructor: func(*reconcile.Request) logr.Logger { return logr.Discard() },
		RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](100*time.Millisecond, 15*time.Second),
	})
	if err != nil {
		return err
	}
	err = made.Watch(source.Kind[client.Object](runs.GetCache(), newResource(), &handler.EnqueueRequestForObject{}))
	if err != nil {
		return err
	}
	err = made.Watch(source.Kind[client.Object](runs.GetCache(), &corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(m.referring)))
	if err != nil {
		return err
	}
	if err := made.Watch(source.Channel(m.triggers, &handler.EnqueueRequestForObject{})); err != nil {
		return err
	}
	for _, kind := range []client.Object{
		&appsv1.Deployment{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &batchv1.Job{}, &apiextensionsv1.CustomResourceDefinition{},
	} {
		if err := made.Watch(source.Kind(target.GetCache(), kind, handler.EnqueueRequestsFromMapFunc(m.origin))); err != nil {
			return err
		}
	}
	return nil
}

// watchTokens lets Secrets that request tokens get them.
func (m *Manager) watchTokens(runs manager.Manager) error {
	requests := predicate.NewPredicateFuncs(func(object client.Object) bool {
		return object.GetLabels()[labelPurpose] == purposeToken && object.GetLabels()[labelClass] == classShoot
	})
	unskipped := true
	return builder.ControllerManagedBy(runs).Named("tokens").For(&corev1.Secret{}, builder.WithPredicates(requests)).
		WithOptions(controller.Options{SkipNameValidation: &unskipped}).WithLogConstructor(func(*reconcile.Request) logr.Logger { return logr.Discard() }).
		Complete(reconcile.Func(m.token))
}

// referring are the ManagedResources whose contents are in a Secret.
func (m *Manager) referring(ctx context.Context, secret client.Object) []reconcile.Request {
	listed := newResources()
	if err := m.seed.List(ctx, listed, client.InNamespace(m.options.Namespace)); err != nil {
		return nil // the next round, a minute later at most, sees the Secret
	}
	var requests []reconcile.Request
	for _, item := range listed.Items {
		resource, err := decodeResource(&item)
		if err != nil {
			continue
		}
		for _, reference := range resource.Spec.SecretRefs {
			if reference.Name == secret.GetName() {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&item)})
			}
		}
	}
	return requests
}

// origin is the ManagedResource that an object on the shoot comes from.
func (m *Manager) origin(_ context.Context, object client.Object) []reconcile.Request {
	key, ok := m.originOf(object)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: key}}
}

func (m *Manager) wake(key types.NamespacedName) {
	resource := newResource()
	resource.SetNamespace(key.Namespace)
	resource.SetName(key.Name)
	select {
	case m.triggers <- event.GenericEvent{Object: resource}:
	case <-m.ended:
	}
}
