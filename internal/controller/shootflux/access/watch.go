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

// Change is one in the namespace of a project.
type Change struct {
	Namespace string
	// Credentials says that those have changed, not the configuration.
	Credentials bool
	// Found says that it was there when watching began: whoever has read the project before
	// may have read what was there before it.
	Found bool
}

// Changed is told of changes.
type Changed func(Change)

// Watch tells of changes of the configurations and credentials of all projects until the
// context ends. It needs no right to read anything but the metadata of objects with these
// names; without it, changes are found by looking now and then.
//
// It returns when both informers have ended. That the garden refuses is told once an hour,
// and no error: it may be granted later.
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
