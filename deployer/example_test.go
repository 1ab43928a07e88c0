package deployer_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
)

// greeter is a deployer that puts a greeting into a ConfigMap.
type greeter struct{}

// greeting is the configuration of an item, and what the deployer remembers of it.
type greeting struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Text      string `json:"text,omitempty"`
}

// Reconcile implements deployer.Deployer.
func (greeter) Reconcile(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	var wanted greeting
	if err := json.Unmarshal(item.Spec.Configuration.Raw, &wanted); err != nil || wanted.Name == "" {
		return deployer.Result{}, deployer.ConfigurationError("spec.config", "it must have namespace, name and text")
	}
	connection, err := item.Cluster(ctx)
	if err != nil {
		return deployer.Result{}, err
	}
	cluster, err := connection.Client(clientgoscheme.Scheme)
	if err != nil {
		return deployer.Result{}, err
	}
	// What is about to be created is recorded before, so it is never forgotten.
	if err := item.Record(ctx, greeting{Namespace: wanted.Namespace, Name: wanted.Name}); err != nil {
		return deployer.Result{}, err
	}
	if err := item.Checkpoint(ctx, "greeting: write"); err != nil {
		return deployer.Result{}, err
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: wanted.Namespace, Name: wanted.Name}, Data: map[string]string{"text": wanted.Text}}
	if err = cluster.Create(ctx, object); apierrors.IsAlreadyExists(err) {
		err = cluster.Update(ctx, object)
	}
	if err != nil {
		return deployer.Result{}, fmt.Errorf("write ConfigMap %s/%s: %w", wanted.Namespace, wanted.Name, err)
	}
	return deployer.Done(), item.Export(ctx, map[string]any{"greetedAt": wanted.Name})
}

// Delete implements deployer.Deployer.
func (greeter) Delete(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	if item.Status.ProviderStatus == nil {
		return deployer.Done(), nil
	}
	var deployed greeting
	if err := json.Unmarshal(item.Status.ProviderStatus.Raw, &deployed); err != nil {
		return deployer.Result{}, &deployer.Error{Operation: "delete", Reason: "ParseProviderStatus", Message: "read status.providerStatus", Cause: err}
	}
	connection, err := item.Cluster(ctx)
	if err != nil {
		return deployer.Result{}, err
	}
	cluster, err := connection.Client(clientgoscheme.Scheme)
	if err != nil {
		return deployer.Result{}, err
	}
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: deployed.Namespace, Name: deployed.Name}}
	return deployer.Done(), client.IgnoreNotFound(cluster.Delete(ctx, object))
}

// A deployer reads the configuration of its item, records what it is about to deploy, deploys
// it to the cluster of the Target and exports where it is. The job ends with Done.
func Example() {
	ctx := context.Background()
	item := newItem(`{"namespace":"default","name":"hello","text":"Good morning!"}`)
	deployer.AssignJob(item, time.Now())
	resources, there := inMemory(item, target), inMemory()
	options := deployer.Options{Type: item.Spec.Type, Name: "greeting", Deployer: greeter{}, Clusters: leading{to: there}}
	if err := deployer.Attempt(ctx, resources, options, client.ObjectKeyFromObject(item)); err != nil {
		fmt.Println(err)
	}

	deployed, exported := &corev1.ConfigMap{}, &corev1.Secret{}
	err := errors.Join(
		resources.Get(ctx, client.ObjectKeyFromObject(item), item),
		there.Get(ctx, client.ObjectKey{Namespace: "default", Name: "hello"}, deployed),
		resources.Get(ctx, client.ObjectKey{Namespace: "shop", Name: item.Status.ExportReference.Name}, exported),
	)
	fmt.Println(item.Status.Phase, err)
	fmt.Println(string(item.Status.ProviderStatus.Raw))
	fmt.Println(deployed.Data["text"])
	fmt.Println(string(exported.Data["config"]))
	// Output:
	// Succeeded <nil>
	// {"name":"hello","namespace":"default"}
	// Good morning!
	// {"greetedAt":"hello"}
}

// An item whose deletion has got a job is removed as it was recorded.
func ExampleDeployer_delete() {
	ctx := context.Background()
	item := newItem(`{}`)
	item.DeletionTimestamp, item.Finalizers = &metav1.Time{Time: time.Now()}, []string{v1alpha1.Finalizer}
	item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"namespace":"default","name":"hello"}`)}
	deployer.AssignJob(item, time.Now())
	resources := inMemory(item, target)
	there := inMemory(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "hello"}})
	options := deployer.Options{Type: item.Spec.Type, Name: "greeting", Deployer: greeter{}, Clusters: leading{to: there}}
	if err := deployer.Attempt(ctx, resources, options, client.ObjectKeyFromObject(item)); err != nil {
		fmt.Println(err)
	}
	fmt.Println(there.Get(ctx, client.ObjectKey{Namespace: "default", Name: "hello"}, &corev1.ConfigMap{}))
	fmt.Println(resources.Get(ctx, client.ObjectKeyFromObject(item), item))
	// Output:
	// configmaps "hello" not found
	// deployitems.landscaper.gardener.cloud "example" not found
}

// A deployer does not wait itself: it watches what it waits for, and names it.
func ExampleWaitFor() {
	rollout := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	reconcile(func(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
		connection, err := item.Cluster(ctx)
		if err != nil {
			return deployer.Result{}, err
		}
		if item.Remembered() == nil {
			watch, err := connection.Watch(ctx, rollout, "default", "web", item.Requeue)
			if err != nil {
				return deployer.Result{}, err
			}
			// The library closes it when the job ends.
			item.Remember(watch)
		}
		cluster, err := connection.Client(clientgoscheme.Scheme)
		if err != nil {
			return deployer.Result{}, err
		}
		web := &appsv1.Deployment{}
		err = cluster.Get(ctx, client.ObjectKey{Namespace: "default", Name: "web"}, web)
		if apierrors.IsNotFound(err) || err == nil && web.Status.AvailableReplicas == 0 {
			return deployer.WaitFor("Deployment default/web"), nil
		}
		return deployer.Done(), err
	})
	// Output:
	// a watch of Deployment default/web begins
	// the watch ends
	// Progressing
}

// The job of an item that has to be changed ends at once.
func ExampleConfigurationError() {
	reconcile(func(context.Context, *deployer.Item) (deployer.Result, error) {
		return deployer.Result{}, deployer.ConfigurationError("spec.config.replicas", "it must be at least 1")
	})
	// Output:
	// Failed
	// InvalidConfiguration: spec.config.replicas: it must be at least 1
}

// An error names the operation and the reason that the status shows. Without Final, another
// attempt would follow.
func ExampleError() {
	reconcile(func(context.Context, *deployer.Item) (deployer.Result, error) {
		refused := errors.New("the license has ended")
		return deployer.Result{}, deployer.Final(&deployer.Error{Operation: "activate", Reason: "License", Message: "activate the product", Cause: refused})
	})
	// Output:
	// Failed
	// License: activate the product: the license has ended
}

// A user or another client has to act first. The error says what is to be done; the job continues
// when the item is enqueued.
func ExampleWaiting() {
	reconcile(func(context.Context, *deployer.Item) (deployer.Result, error) {
		return deployer.Result{}, deployer.Waiting("activate", "NoLicense", "Secret license does not exist: create it")
	})
	// Output:
	// Progressing
	// NoLicense: Secret license does not exist: create it
}

// What follows from an error does not depend on how it is wrapped.
func ExampleOutcomeOf() {
	fmt.Println(deployer.OutcomeOf(fmt.Errorf("deploy: %w", deployer.Final(errors.New("refused")))))
	fmt.Println(deployer.OutcomeOf(&deployer.Error{Message: "log in", Codes: []v1alpha1.ErrorCode{v1alpha1.ErrorUnauthorized}}))
	fmt.Println(deployer.OutcomeOf(errors.New("connection reset by peer")))
	// Output:
	// final
	// final
	// transient
}

// reconcile lets a deployer work on an item once, and prints how far it came.
func reconcile(work work) {
	ctx := context.Background()
	item := newItem(`{}`)
	deployer.AssignJob(item, time.Now())
	resources := inMemory(item, target)
	options := deployer.Options{Type: item.Spec.Type, Name: "example", Deployer: work, Clusters: leading{to: inMemory()}}
	err := deployer.Attempt(ctx, resources, options, client.ObjectKeyFromObject(item))
	if err = errors.Join(err, resources.Get(ctx, client.ObjectKeyFromObject(item), item)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(item.Status.Phase)
	if shown := item.Status.LastError; shown != nil {
		fmt.Println(shown.Reason + ": " + shown.Message)
	}
}

// work is a deployer that removes nothing.
type work func(ctx context.Context, item *deployer.Item) (deployer.Result, error)

// Reconcile implements deployer.Deployer.
func (w work) Reconcile(ctx context.Context, item *deployer.Item) (deployer.Result, error) {
	return w(ctx, item)
}

// Delete implements deployer.Deployer.
func (w work) Delete(context.Context, *deployer.Item) (deployer.Result, error) {
	return deployer.Done(), nil
}

// target is the Target of the items.
var target = &v1alpha1.Target{
	ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "edge"},
	Spec:       v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType},
}

// newItem is an item as an Execution creates it.
func newItem(config string) *v1alpha1.DeployItem {
	return &v1alpha1.DeployItem{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "example", UID: "1", Generation: 1},
		Spec: v1alpha1.DeployItemSpec{
			Type: "acme.example/greeting", Configuration: &runtime.RawExtension{Raw: []byte(config)},
			Target: &v1alpha1.ObjectReference{Namespace: target.Namespace, Name: target.Name},
		},
	}
}

// inMemory is a cluster with nothing but some objects.
func inMemory(objects ...client.Object) client.Client {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		panic(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&v1alpha1.DeployItem{}).Build()
}

// leading are clusters of which all Targets lead to one, and the connection to that.
type leading struct {
	deployer.Clusters
	deployer.Connection
	to client.Client
}

// Connect implements deployer.Clusters.
func (l leading) Connect(context.Context, *v1alpha1.Target) (deployer.Connection, error) {
	return l, nil
}

// Contact implements deployer.Connection.
func (leading) Contact(context.Context, func()) error { return nil }

// Client implements deployer.Connection.
func (l leading) Client(*runtime.Scheme) (client.Client, error) { return l.to, nil }

// Watch implements deployer.Connection.
func (leading) Watch(_ context.Context, kind schema.GroupVersionKind, namespace, name string, _ func()) (io.Closer, error) {
	fmt.Printf("a watch of %s %s/%s begins\n", kind.Kind, namespace, name)
	return closing(func() { fmt.Println("the watch ends") }), nil
}

// closing is called when it is closed.
type closing func()

// Close implements io.Closer.
func (c closing) Close() error {
	c()
	return nil
}
