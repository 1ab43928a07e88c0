package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/clustererror"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/cluster/traffic"
	"go.landscaper.dev/internal/cluster/watch"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
)

// Connection is the access to one cluster with one set of credentials.
type Connection struct {
	key        string
	server     string
	address    string
	identity   identity
	httpClient *http.Client
	memory     *answerlimit.Budget
	pace       *traffic.Pace
	dynamic    dynamic.Interface
	metadata   metadata.Interface
	rest       rest.Interface
	discovery  *discovery.DiscoveryClient
	kinds      *kinds
	release    release
	health     *health
	watches    *watch.Set
	// kept is how many bytes the kinds of the cluster take in memory.
	kept atomic.Int64
}

// newConnection makes the clients of a connection. No request is made.
func newConnection(key, address string, config *rest.Config, policy egress.Policy, network http.RoundTripper, memory *answerlimit.Budget) (*Connection, error) {
	config = rest.CopyConfig(config)
	// The API server's priority and fairness decides who waits; a client-side limit would only add
	// unexplained delays.
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	c := &Connection{key: key, address: address, server: config.Host, memory: memory, health: &health{now: time.Now}, pace: traffic.NewPace()}
	var httpClient *http.Client
	var err error
	if network != nil {
		httpClient, err = traffic.NewClientOver(network, config, memory, c.pace)
	} else {
		httpClient, err = traffic.NewClient(config, policy, memory, c.pace)
	}
	if err != nil {
		return nil, err
	}
	c.httpClient = httpClient
	if c.dynamic, err = dynamic.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, err
	}
	if c.metadata, err = metadata.NewForConfigAndClient(config, httpClient); err != nil {
		return nil, err
	}
	if c.rest, err = rest.UnversionedRESTClientForConfigAndClient(dynamic.ConfigFor(config), httpClient); err != nil {
		return nil, err
	}
	if c.discovery, err = discovery.NewDiscoveryClientForConfigAndClient(config, httpClient); err != nil {
		return nil, err
	}
	c.kinds = &kinds{fetch: c.fetchKinds}
	c.watches = watch.New(c.dynamic, c.metadata, memory, c.server)
	return c, nil
}

// Server is the address of the API server.
func (c *Connection) Server() string { return c.server }

// Key identifies the cluster together with the credentials.
func (c *Connection) Key() string { return c.key }

func (c *Connection) close() { utilnet.CloseIdleConnectionsFor(c.httpClient.Transport) }

func (c *Connection) watched() bool { return c.watches.Any() }

// try makes a request with a time limit, unless the cluster is known to be down.
func (c *Connection) try(ctx context.Context, request func(context.Context) error) error {
	if err := c.health.refuse(); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, answerlimit.RequestTimeout)
	defer cancel()
	limited, loan, end := answerlimit.WithLoan(limited, c.memory)
	defer end()
	err := request(limited)
	// The caller's context counts, not the limited one: a request that was too slow says something
	// about the cluster.
	if err != nil && ctx.Err() != nil {
		// The process is ending; this says nothing about the cluster.
		return ctx.Err()
	}
	if loan.Answered.Load() && clustererror.Unreadable(err) {
		err = clustererror.ErrUnreadable
	}
	err = clustererror.Explain(err, clustererror.TalkToCluster, c.server)
	c.health.learn(err)
	return err
}

// Mapping returns the resource of a kind; without a version, in any one that the cluster serves,
// first the one that it prefers. An unknown kind is looked up once more on the cluster;
// meta.IsNoMatchError recognises a kind that does not exist.
func (c *Connection) Mapping(ctx context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error) {
	before := c.kinds.known()
	mapping, err := c.kinds.lookUp(kind)
	if err == nil {
		return mapping, nil
	}
	return c.kinds.find(ctx, kind, before)
}

// contactTimeout is how long a caller waits for a cluster that was never reached before.
const contactTimeout = time.Second

// Contact makes the first contact with a cluster. A cluster that does not answer soon must not
// block others: Contact then returns a wait, and calls wake when the cluster has answered or the
// attempt has failed.
//
// Contact comes before the first request of a job to a cluster: without it, a worker would wait
// until the request times out.
func (c *Connection) Contact(ctx context.Context, wake func()) error {
	if c.kinds.known() != nil {
		return nil
	}
	asked := c.kinds.ask(nil)
	if asked == nil {
		return nil
	}
	timer := time.NewTimer(contactTimeout)
	defer timer.Stop()
	select {
	case <-asked.done:
		return asked.err
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	// The cluster may have answered since the time ended: then wake would never be called.
	if c.kinds.afterwards(asked, wake) {
		<-asked.done
		return asked.err
	}
	return job.WaitForProgress(published.ContactCluster, "waiting for the cluster at "+c.server+" to answer")
}

// fetchKinds asks the cluster for its kinds.
func (c *Connection) fetchKinds(ctx context.Context) (mapper meta.RESTMapper, err error) {
	err = c.try(ctx, func(ctx context.Context) error {
		asker := &asker{DiscoveryClient: c.discovery}
		resources, err := restmapper.GetAPIGroupResourcesWithContext(ctx, asker)
		mapper = &served{RESTMapper: restmapper.NewDiscoveryRESTMapper(resources), versions: versionsOf(resources), away: asker.away}
		c.kept.Store(answerlimit.CostOf(ctx))
		return err
	})
	return mapper, err
}

func (c *Connection) objects(mapping *meta.RESTMapping, namespace string) dynamic.ResourceInterface {
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		return c.dynamic.Resource(mapping.Resource).Namespace(namespace)
	}
	return c.dynamic.Resource(mapping.Resource)
}

// Get reads an object.
func (c *Connection) Get(ctx context.Context, mapping *meta.RESTMapping, namespace, name string) (object *unstructured.Unstructured, err error) {
	err = c.try(ctx, func(ctx context.Context) error {
		object, err = c.objects(mapping, namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return object, c.absent(ctx, mapping, err)
}

// Create creates an object and returns what is stored.
func (c *Connection) Create(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, owner string) (*unstructured.Unstructured, error) {
	return c.create(ctx, mapping, object, metav1.CreateOptions{FieldManager: owner})
}

// PreviewNew returns what a creation would store, and changes nothing.
func (c *Connection) PreviewNew(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, owner string) (*unstructured.Unstructured, error) {
	return c.create(ctx, mapping, object, metav1.CreateOptions{FieldManager: owner, DryRun: []string{metav1.DryRunAll}})
}

func (c *Connection) create(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, options metav1.CreateOptions) (stored *unstructured.Unstructured, err error) {
	err = c.try(ctx, func(ctx context.Context) error {
		stored, err = c.objects(mapping, object.GetNamespace()).Create(ctx, object, options)
		return err
	})
	return stored, err
}

// Update replaces an object and returns what is stored.
func (c *Connection) Update(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, owner string) (*unstructured.Unstructured, error) {
	return c.update(ctx, mapping, object, metav1.UpdateOptions{FieldManager: owner})
}

// Preview returns what an update would store, and changes nothing.
func (c *Connection) Preview(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, owner string) (*unstructured.Unstructured, error) {
	return c.update(ctx, mapping, object, metav1.UpdateOptions{FieldManager: owner, DryRun: []string{metav1.DryRunAll}})
}

func (c *Connection) update(ctx context.Context, mapping *meta.RESTMapping, object *unstructured.Unstructured, options metav1.UpdateOptions) (stored *unstructured.Unstructured, err error) {
	err = c.try(ctx, func(ctx context.Context) error {
		stored, err = c.objects(mapping, object.GetNamespace()).Update(ctx, object, options)
		return err
	})
	return stored, err
}

// MergePatch merges a patch into an object and returns what is stored.
func (c *Connection) MergePatch(ctx context.Context, mapping *meta.RESTMapping, namespace, name string, patch []byte, owner string) (stored *unstructured.Unstructured, err error) {
	err = c.try(ctx, func(ctx context.Context) error {
		stored, err = c.objects(mapping, namespace).Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: owner})
		return err
	})
	return stored, err
}

// Delete deletes an object. It returns what is left of it, or nil if the API server says that the
// object is deleted. The UID, if it is given, must be that of the object.
//
// The library's deletion drops the answer, which is the only cheap way to learn whether finalizers
// block the deletion.
func (c *Connection) Delete(ctx context.Context, mapping *meta.RESTMapping, namespace, name string, options metav1.DeleteOptions) (left *unstructured.Unstructured, err error) {
	options.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}
	body, err := json.Marshal(options)
	if err != nil {
		return nil, fmt.Errorf("encode the options of a deletion: %w", err)
	}
	var answer []byte
	err = c.try(ctx, func(ctx context.Context) error {
		answer, err = c.rest.Delete().AbsPath(objectPath(mapping, namespace, name)).SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Raw()
		return withStatus(err, answer)
	})
	if err = c.absent(ctx, mapping, err); apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	left = &unstructured.Unstructured{}
	if err := left.UnmarshalJSON(answer); err != nil || left.GetKind() == "Status" {
		// An answer that cannot be read says nothing; a Status says that the deletion is done.
		return nil, nil
	}
	return left, nil
}

// withStatus adds what the API server says about a failure.
func withStatus(err error, answer []byte) error {
	status := &apierrors.StatusError{}
	if err == nil || len(answer) == 0 || json.Unmarshal(answer, &status.ErrStatus) != nil || status.ErrStatus.Reason == "" {
		return err
	}
	return status
}

func objectPath(mapping *meta.RESTMapping, namespace, name string) string {
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		namespace = ""
	}
	return resourcePath(mapping.Resource, namespace, name)
}

// resourcePath is the path of an object, without a namespace of a cluster-scoped one.
func resourcePath(resource schema.GroupVersionResource, namespace, name string) string {
	path := []string{"apis", resource.Group, resource.Version}
	if resource.Group == "" {
		path = []string{"api", resource.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return strings.Join(append(path, resource.Resource, name), "/")
}
