package deployer

import (
	"context"
	"io"
	"net/netip"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster"
	"go.landscaper.dev/internal/cluster/egress"
)

// Clusters lead from Targets to target clusters. NewClusters returns those of a program; a
// test of a deployer brings its own.
type Clusters interface {
	// Connect returns the connection to the cluster of a Target, without a request to that cluster.
	Connect(ctx context.Context, target *v1alpha1.Target) (Connection, error)
	// AddressOf is the address to which a Target leads, as Connection.Address has it.
	AddressOf(ctx context.Context, target *v1alpha1.Target) (string, error)
}

// Connection is the access to a target cluster with the credentials of a Target.
type Connection interface {
	// Client returns a client for the cluster that knows the kinds of a scheme.
	Client(scheme *runtime.Scheme) (client.Client, error)
	// Watch calls wake whenever an object has changed, until the watch is closed: Item.Remember
	// closes it at the end of the job. The object need not exist. Begin the watch before you read
	// the object, otherwise a change in between is missed.
	Watch(ctx context.Context, kind schema.GroupVersionKind, namespace, name string, wake func()) (io.Closer, error)
	// Contact makes the first contact with the cluster. If the cluster does not answer soon, the
	// item waits, and wake is called when it does. Item.Cluster has made the contact already.
	Contact(ctx context.Context, wake func()) error

	// Server is the address of the API server.
	Server() string
	// Address identifies the address of the API server and the authority of its certificate,
	// without anything of the credentials.
	Address() string
	// ID identifies the cluster whatever its address is; empty if the credentials do not allow
	// to find that out.
	ID(ctx context.Context) (string, error)

	// Mapping returns the resource of a kind; meta.IsNoMatchError recognises a kind that the
	// cluster does not serve.
	Mapping(ctx context.Context, kind schema.GroupVersionKind) (*meta.RESTMapping, error)
	// Get reads an object.
	Get(ctx context.Context, mapping *meta.RESTMapping, namespace, name string) (*unstructured.Unstructured, error)
}

var _ Connection = (*cluster.Connection)(nil)

// Egress limits the addresses of Targets. The zero value allows private networks and the Internet,
// and refuses this machine.
type Egress struct {
	// AllowLoopback allows addresses of this machine. It is for tests and development.
	AllowLoopback bool
	// DenyPrivate refuses addresses of private networks.
	DenyPrivate bool
	// Allow are networks that are allowed whatever the other fields say, except Deny. A metadata
	// address of a cloud, which serves credentials, must be named alone (/32, /128).
	Allow []netip.Prefix
	// Deny are networks that are refused.
	Deny []netip.Prefix
	// Proxy is the address of a proxy for HTTP, or "environment" for those that the usual
	// variables name. A proxy resolves names itself, so it has to refuse what names lead to.
	Proxy string
	// DenyInsecureTLS refuses connections whose certificate would not be verified.
	DenyInsecureTLS bool
}

// policy converts the egress for the clients of this module.
func (e Egress) policy() egress.Policy {
	return egress.Policy{
		AllowLoopback: e.AllowLoopback, DenyPrivate: e.DenyPrivate, Allow: e.Allow, Deny: e.Deny,
		Proxy: e.Proxy, DenyInsecureTLS: e.DenyInsecureTLS,
	}
}

// NewClusters returns connections to target clusters for the deployers of a manager, which share
// them. They connect to addresses that the egress allows, with the given user agent.
func NewClusters(mgr ctrl.Manager, userAgent string, egress Egress) Clusters {
	return pool{cluster.NewPoolFor(mgr, userAgent, egress.policy())}
}

// pool is a pool of connections as deployers see it.
type pool struct{ *cluster.Pool }

// Connect implements Clusters.
func (p pool) Connect(ctx context.Context, target *v1alpha1.Target) (Connection, error) {
	connection, err := p.Pool.Connect(ctx, target)
	if err != nil {
		return nil, err // says which Target
	}
	return connection, nil
}
