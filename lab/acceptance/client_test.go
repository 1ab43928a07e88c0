package acceptance

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	watchtools "k8s.io/client-go/tools/watch"

	"go.landscaper.dev/lab/internal/objects"
)

// waitLimit bounds every wait; a wait ends with its event, long before. It is for a
// machine that is busy with other things.
const waitLimit = 2 * time.Minute

func restConfig(t *testing.T, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if config.Insecure || len(config.CAData) == 0 {
		t.Fatalf("%s does not verify the API server", kubeconfig)
	}
	return config
}

func clientset(t *testing.T, kubeconfig string) *kubernetes.Clientset {
	t.Helper()
	return clientsetFor(t, restConfig(t, kubeconfig))
}

func clientsetFor(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func dynamicClient(t *testing.T, kubeconfig string) *dynamic.DynamicClient {
	t.Helper()
	client, err := dynamic.NewForConfig(restConfig(t, kubeconfig))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// apply applies manifests.
func apply(t *testing.T, kubeconfig, manifests string) {
	t.Helper()
	o, err := objects.New(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Apply(t.Context(), []byte(manifests)); err != nil {
		t.Fatal(err)
	}
}

// newNamespace makes a namespace for a test.
func newNamespace(t *testing.T, client kubernetes.Interface) string {
	t.Helper()
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

// await waits until an object fulfils a condition. The condition is asked with
// nil when the object does not exist.
func await[Object runtime.Object](t *testing.T, client rest.Interface, resource, namespace, name string, empty Object, condition func(*Object) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	lw := cache.NewListWatchFromClient(client, resource, namespace, fields.OneTermEqualSelector("metadata.name", name))
	var last *Object
	_, err := watchtools.UntilWithSync(ctx, lw, empty, func(store cache.Store) (bool, error) {
		return len(store.ListKeys()) == 0 && condition(nil), nil
	}, func(event watch.Event) (bool, error) {
		object, ok := event.Object.(Object)
		if event.Type == watch.Deleted || !ok {
			return condition(nil), nil
		}
		last = &object
		return condition(&object), nil
	})
	if err != nil {
		t.Fatalf("wait for %s %s/%s: %v; last seen: %+v", resource, namespace, name, err, last)
	}
}

// gone is the condition of an object that no longer exists.
func gone[Object any](object *Object) bool { return object == nil }

// awaitCondition waits until an object of any kind has a condition that is true.
func awaitCondition(t *testing.T, client dynamic.Interface, resource schema.GroupVersionResource, namespace, name, condition string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	one := fields.OneTermEqualSelector("metadata.name", name).String()
	objects := client.Resource(resource).Namespace(namespace)
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = one
			return objects.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = one
			return objects.Watch(ctx, options)
		},
	}
	var last any
	_, err := watchtools.UntilWithSync(ctx, lw, &unstructured.Unstructured{}, nil, func(event watch.Event) (bool, error) {
		object, ok := event.Object.(*unstructured.Unstructured)
		if !ok {
			return false, nil
		}
		// An error says that there are no conditions yet.
		conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		last = conditions
		for _, item := range conditions {
			if c, ok := item.(map[string]any); ok && c["type"] == condition && c["status"] == "True" {
				return true, nil
			}
		}
		return false, nil
	})
	if err != nil {
		t.Fatalf("wait for %s %s/%s to be %s: %v; its conditions: %v", resource.Resource, namespace, name, condition, err, last)
	}
}

// eventually repeats what has no event to wait for until it succeeds.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	deadline := time.After(waitLimit)
	for {
		err := try()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("after %s still: %v", waitLimit, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
