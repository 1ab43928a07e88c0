package access

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"go.landscaper.dev/internal/controller/shootflux/config"
)

// Change is a change in the namespace of a project.
type Change struct {
	Namespace string
	// Credentials says that the credentials have changed, not the configuration.
	Credentials bool
	// Found says that the object existed when the watch began: an earlier read of the project may
	// have seen an older version.
	Found bool
}

// Changed is called for changes.
type Changed func(Change)

// Watch reports changes of the configurations and credentials of all projects until the context
// ends. It only needs the permission to read the metadata of objects with these names; without it,
// the resync finds changes.
//
// It returns when both informers have ended. A refusal of the garden is logged once an hour, and is
// not an error: the permission may be granted later.
func Watch(ctx context.Context, garden *rest.Config, log logr.Logger, changed Changed) error {
	client, err := metadata.NewForConfig(garden)
	if err != nil {
		return fmt.Errorf("make a client for the garden: %w", err)
	}
	var running sync.WaitGroup
	for resource, name := range map[string]string{"configmaps": config.DefaultConfigMap, "secrets": config.SourceSecret} {
		informer := metadatainformer.NewFilteredMetadataInformer(client, corev1.SchemeGroupVersion.WithResource(resource), metav1.NamespaceAll, 0, cache.Indexers{},
			func(options *metav1.ListOptions) {
				options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
			}).Informer()
		if err := watch(informer, log.WithValues("resource", resource), resource == "secrets", changed); err != nil {
			return err
		}
		running.Go(func() { informer.Run(ctx.Done()) })
	}
	running.Wait()
	return nil
}

func watch(informer cache.SharedIndexInformer, log logr.Logger, credentials bool, changed Changed) error {
	tell := func(object any, found bool) {
		if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = last.Obj
		}
		if meta, ok := object.(metav1.Object); ok {
			changed(Change{Namespace: meta.GetNamespace(), Credentials: credentials, Found: found})
		}
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: tell,
		UpdateFunc: func(before, after any) {
			old, isOld := before.(metav1.Object)
			now, isNew := after.(metav1.Object)
			if !isOld || !isNew || old.GetResourceVersion() != now.GetResourceVersion() {
				tell(after, false)
			}
		},
		DeleteFunc: func(object any) { tell(object, false) },
	})
	if err != nil {
		return fmt.Errorf("watch the garden: %w", err)
	}
	var mutex sync.Mutex
	var said time.Time
	return informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
		mutex.Lock()
		defer mutex.Unlock()
		if time.Since(said) > time.Hour {
			said = time.Now()
			log.Info("the garden does not let us watch projects; their changes are found when shoots are reconciled", "error", err.Error())
		}
	})
}
