package world

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/recorder"
)

// Manager is a manager that keeps the controller which is added to it.
type Manager struct {
	manager.Manager // what no deployer needs
	Client          client.Client
	Live            client.Reader
	Reconciler      reconcile.Reconciler
	Events          recorder.EventRecorder
}

// Add implements manager.Manager.
func (m *Manager) Add(runnable manager.Runnable) error {
	m.Reconciler, _ = runnable.(reconcile.Reconciler)
	return nil
}

// GetClient implements cluster.Cluster.
func (m *Manager) GetClient() client.Client { return m.Client }

// GetAPIReader implements cluster.Cluster.
func (m *Manager) GetAPIReader() client.Reader { return m.Live }

// GetEventRecorder implements cluster.Cluster.
func (m *Manager) GetEventRecorder(string) recorder.EventRecorder { return m.Events }

// GetFieldIndexer implements cluster.Cluster.
func (m *Manager) GetFieldIndexer() client.FieldIndexer { return m }

// IndexField implements client.FieldIndexer.
func (m *Manager) IndexField(context.Context, client.Object, string, client.IndexerFunc) error {
	return nil
}

// GetCache implements cluster.Cluster.
func (m *Manager) GetCache() cache.Cache { return nil }

// GetScheme implements cluster.Cluster.
func (m *Manager) GetScheme() *runtime.Scheme { return scheme }

// GetRESTMapper implements cluster.Cluster.
func (m *Manager) GetRESTMapper() meta.RESTMapper { return mapper }

// GetConfig implements cluster.Cluster.
func (m *Manager) GetConfig() *rest.Config { return &rest.Config{} }

// GetLogger implements manager.Manager.
func (m *Manager) GetLogger() logr.Logger { return logr.Discard() }

// GetControllerOptions implements manager.Manager.
func (m *Manager) GetControllerOptions() config.Controller {
	skip := true
	return config.Controller{SkipNameValidation: &skip}
}
