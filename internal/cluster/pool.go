package cluster

import (
	"container/list"
	"context"
	"fmt"
	"net/http"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/answerlimit"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/cluster/login"
	"go.landscaper.dev/internal/model/validation"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/published"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// defaultSize is the number of connections that a pool keeps.
const defaultSize = 500

// maxRemembered is how long a content may be that is remembered: a kubeconfig has some KB, a Secret may
// have a megabyte, and thousands are remembered.
const maxRemembered = 64 << 10

const resolveTarget = published.ResolveTarget

// PoolOptions are the settings of a pool.
type PoolOptions struct {
	// Secrets reads Secrets of the resource cluster from its API server.
	Secrets client.Reader
	// SecretVersions reads the metadata of Secrets from a cache, so that a Secret is read once per
	// version only; nil reads it each time.
	SecretVersions client.Reader
	// Tokens requests tokens for Targets with oidcConfig or selfConfig.
	Tokens login.TokenRequester
	// Self is the connection to the resource cluster, for Targets with selfConfig.
	Self *rest.Config
	// UserAgent is the user agent of requests.
	UserAgent string
	// Size is the number of connections to keep; those in use count, but are never
	// dropped.
	Size int
	// Egress says which addresses Targets may lead to.
	Egress egress.Policy
	// WrapTransport wraps what sends the requests to all clusters; nil wraps nothing. A test takes
	// the place of the network with it.
	WrapTransport transport.WrapperFunc
	// Network takes the place of the network to all clusters, below what guards the requests; nil is the
	// network.
	Network http.RoundTripper
	// Memory is how many bytes the answers of clusters and the stores of watches may take together;
	// 0 is a default.
	Memory int64
}

// Pool keeps connections to target clusters. Targets with the same content share one. The mutex
// guards everything below it and is never held during a request. Two callers that need the same
// Secret at once both read it, and the later one is kept.
type Pool struct {
	options PoolOptions
	memory  *answerlimit.Budget

	mutex       sync.Mutex
	connections map[string]*list.Element
	// recent has the connections, the last used one first.
	recent *list.List
	// secrets has the content of Secrets by their version.
	secrets map[string]secretContent
	// read has the parsed contents of Targets, by their hash: every Installation has copies of the
	// same few Targets, and parsing one is ten times as expensive as its hash.
	read map[string]*login.Login
}

// secretContent is the content of a version of a Secret.
type secretContent struct {
	version string
	content []byte
}

// NewPool returns an empty pool.
func NewPool(options PoolOptions) *Pool {
	if options.Size <= 0 {
		options.Size = defaultSize
	}
	if options.UserAgent == "" {
		options.UserAgent = "landscaper"
	}
	return &Pool{options: options, memory: answerlimit.New(options.Memory), connections: make(map[string]*list.Element), recent: list.New(), secrets: make(map[string]secretContent), read: make(map[string]*login.Login)}
}

// Connect returns the connection to the cluster of a Target. No request is made to
// that cluster. An error about the Target itself has the code for a configuration
// problem; a Secret that is missing is a wait.
func (p *Pool) Connect(ctx context.Context, target *v1alpha1.Target) (*Connection, error) {
	meant, err := p.access(ctx, target)
	if err != nil {
		return nil, err
	}
	return p.connection(meant)
}

// access returns what a Target says about its cluster.
func (p *Pool) access(ctx context.Context, target *v1alpha1.Target) (*login.Login, error) {
	content, err := p.content(ctx, target)
	if err != nil {
		return nil, err
	}
	key := login.Hash(target.Namespace, content)
	p.mutex.Lock()
	known := p.read[key]
	p.mutex.Unlock()
	if known != nil {
		return known, nil
	}
	config, elsewhere, err := p.parse(ctx, target, content)
	if err != nil {
		return nil, err
	}
	found, err := login.Of(config, target.Namespace, p.terms())
	if err != nil {
		return nil, invalidTarget(target, err)
	}
	if !elsewhere && len(content) <= maxRemembered {
		p.remember(key, found)
	}
	return found, nil
}

// remember keeps a parsed content.
func (p *Pool) remember(key string, meant *login.Login) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	// Contents out of use cannot be distinguished from others; parsing all of them once more is
	// cheap and rare.
	if len(p.read) >= 4*p.options.Size {
		clear(p.read)
	}
	p.read[key] = meant
}

// ConnectKubeconfig returns the connection for a kubeconfig that is in no Target. No
// request is made.
func (p *Pool) ConnectKubeconfig(text []byte) (*Connection, error) {
	kubeconfig, err := login.ReadKubeconfig(text)
	if err != nil {
		return nil, err
	}
	meant, err := login.OfKubeconfig(kubeconfig, string(text), p.terms())
	if err != nil {
		return nil, err
	}
	return p.connection(meant)
}

func (p *Pool) terms() login.Terms {
	return login.Terms{Self: p.options.Self, DenyInsecure: p.options.Egress.DenyInsecureTLS}
}

// config returns what a Target says about its cluster, with what it keeps in Secrets.
func (p *Pool) config(ctx context.Context, target *v1alpha1.Target) (*v1alpha1.KubernetesClusterTargetConfig, error) {
	content, err := p.content(ctx, target)
	if err != nil {
		return nil, err
	}
	config, _, err := p.parse(ctx, target, content)
	return config, err
}

// parse reads the content of a Target, and reports whether a part of it is in a Secret.
func (p *Pool) parse(ctx context.Context, target *v1alpha1.Target, content []byte) (config *v1alpha1.KubernetesClusterTargetConfig, elsewhere bool, err error) {
	if config, err = login.ParseContent(content); err != nil {
		return nil, false, invalidTarget(target, err)
	}
	if elsewhere = config.Kubeconfig.StrVal == nil && config.Kubeconfig.SecretRef != nil; elsewhere {
		err = p.resolveKubeconfig(ctx, target, config)
	}
	return config, elsewhere, err
}

func invalidTarget(target *v1alpha1.Target, err error) error {
	return invalid{job.Wrap(err, resolveTarget, reasons.ValidateTarget, fmt.Sprintf("Target %s/%s", target.Namespace, target.Name), v1alpha1.ErrorConfigurationProblem)}
}

// content returns the text that a Target stands for.
func (p *Pool) content(ctx context.Context, target *v1alpha1.Target) ([]byte, error) {
	// The Target may have been stored without the admission policies.
	if err := validation.Target(target).ToAggregate(); err != nil {
		return nil, invalidTarget(target, err)
	}
	if ref := target.Spec.SecretRef; ref != nil {
		return p.secret(ctx, target, ref.Name, ref.Key)
	}
	if target.Spec.Configuration == nil || len(target.Spec.Configuration.RawMessage) == 0 {
		return nil, invalidTarget(target, fmt.Errorf("it has neither spec.config nor spec.secretRef: set one of them"))
	}
	return target.Spec.Configuration.RawMessage, nil
}

// resolveKubeconfig reads the Secret that a Target of an old release names for its
// kubeconfig.
func (p *Pool) resolveKubeconfig(ctx context.Context, target *v1alpha1.Target, config *v1alpha1.KubernetesClusterTargetConfig) error {
	ref := config.Kubeconfig.SecretRef
	if ref.Namespace != "" && ref.Namespace != target.Namespace {
		return invalidTarget(target, fmt.Errorf("kubeconfig.secretRef.namespace must be the namespace of the Target (%s) or be left out", target.Namespace))
	}
	content, err := p.secret(ctx, target, ref.Name, ref.Key)
	if err != nil {
		return err
	}
	text := string(content)
	config.Kubeconfig = v1alpha1.ValueRef{StrVal: &text}
	return nil
}

// secret returns a key of a Secret in the Target's namespace, or all of it.
func (p *Pool) secret(ctx context.Context, target *v1alpha1.Target, name, key string) ([]byte, error) {
	at := client.ObjectKey{Namespace: target.Namespace, Name: name}
	version := p.secretVersion(ctx, at)
	cacheKey := login.Hash(at, key)
	p.mutex.Lock()
	known := p.secrets[cacheKey]
	p.mutex.Unlock()
	if version != "" && known.version == version {
		return known.content, nil
	}
	// The cache holds no content of Secrets on purpose; the content is read once for each version.
	secret := &corev1.Secret{}
	ctx, cancel := context.WithTimeout(ctx, answerlimit.RequestTimeout)
	defer cancel()
	if err := p.options.Secrets.Get(ctx, at, secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, incomplete{job.NewWaiting(resolveTarget, reasons.SecretNotFound, fmt.Sprintf("Secret %s of Target %s/%s does not exist: create it", at, target.Namespace, target.Name))}
		}
		return nil, job.Wrap(err, resolveTarget, reasons.ReadSecret, fmt.Sprintf("read Secret %s of Target %s/%s", at, target.Namespace, target.Name))
	}
	content, err := login.SecretText(secret, key)
	if err != nil {
		return nil, incomplete{job.NewWaiting(resolveTarget, reasons.SecretKeyNotFound, fmt.Sprintf("Secret %s of Target %s/%s: %v", at, target.Namespace, target.Name, err))}
	}
	if len(content) > maxRemembered {
		return content, nil
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.secrets) >= 4*p.options.Size {
		clear(p.secrets)
	}
	p.secrets[cacheKey] = secretContent{version: string(secret.UID) + "/" + secret.ResourceVersion, content: content}
	return content, nil
}

func (p *Pool) secretVersion(ctx context.Context, at client.ObjectKey) string {
	if p.options.SecretVersions == nil {
		return ""
	}
	meta := &metav1.PartialObjectMetadata{}
	meta.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	if err := p.options.SecretVersions.Get(ctx, at, meta); err != nil {
		return ""
	}
	return string(meta.UID) + "/" + meta.ResourceVersion
}

// connection returns the connection for an access and makes it the most recent.
func (p *Pool) connection(to *login.Login) (*Connection, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if element, ok := p.connections[to.Key]; ok {
		p.recent.MoveToFront(element)
		return element.Value.(*Connection), nil
	}
	config := rest.CopyConfig(to.Config)
	config.UserAgent = p.options.UserAgent
	if to.Token != nil {
		config.Wrap(login.NewTokens(to, p.options.Tokens, p.options.Self).Wrap)
	}
	config.Wrap(p.options.WrapTransport)
	policy := p.options.Egress
	if to.Self {
		// No user has chosen this address: it is the address of the resource cluster, often a
		// private or local one.
		policy = egress.Unrestricted()
		policy.Proxy = p.options.Egress.Proxy
	}
	connection, err := newConnection(to.Key, to.Address(), config, policy, p.options.Network, p.memory)
	if err != nil {
		return nil, invalid{job.Wrap(err, resolveTarget, reasons.ValidateTarget, "make a client for the cluster at "+config.Host, v1alpha1.ErrorConfigurationProblem)}
	}
	p.connections[to.Key] = p.recent.PushFront(connection)
	p.shrink()
	return connection, nil
}

// Close gives up the connections of a pool that is not used any more.
func (p *Pool) Close() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, element := range p.connections {
		element.Value.(*Connection).close()
	}
	clear(p.connections)
	p.recent.Init()
}

// shrink drops the connections that were not used for the longest time, until their number and the
// memory for their kinds are within the limits. Connections with a watch stay, and so does the last
// one that was used.
func (p *Pool) shrink() {
	kept := int64(0)
	for element := p.recent.Front(); element != nil; element = element.Next() {
		kept += element.Value.(*Connection).kept.Load()
	}
	for element := p.recent.Back(); element != p.recent.Front() && (p.recent.Len() > p.options.Size || kept > p.memory.Limit); {
		previous := element.Prev()
		if connection := element.Value.(*Connection); !connection.watched() {
			p.recent.Remove(element)
			delete(p.connections, connection.key)
			kept -= connection.kept.Load()
			connection.close()
		}
		element = previous
	}
}
