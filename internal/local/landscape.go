// Package local brings up a landscape in memory: the controllers and deployers of this release, against API
// servers in memory for the resource cluster and for each Target. Nothing is served, and nothing leaves the
// machine unless that is asked for.
package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component/repository"
	"go.landscaper.dev/internal/deploy/renderers"
	"go.landscaper.dev/internal/local/apiserver"
	"go.landscaper.dev/internal/local/rules"
	"go.landscaper.dev/internal/server"
	"go.landscaper.dev/internal/server/install"
)

const (
	// resourceHost is the address of the resource cluster, which exists nowhere.
	resourceHost = "resource.landscape.invalid"
	// maxClusters is how many target clusters there may be.
	maxClusters = 64
	// shutdown is how long running steps get to end.
	shutdown = 5 * time.Second
	// offlineRemedy says how registries are reached.
	offlineRemedy = "put the component into the folder, or allow registries with --registry"
)

// Options are the settings of a landscape.
type Options struct {
	// Objects are those of the resource cluster, and Definitions the CustomResourceDefinitions of all
	// target clusters.
	Objects, Definitions []*unstructured.Unstructured
	// Components are found before those of all repositories.
	Components repository.Repository
	// Behaviour is what target clusters do.
	Behaviour rules.Behaviour
	// Online lets controllers reach registries and repositories of charts, wherever a user could.
	Online bool
	// Changing lets components appear later.
	Changing bool
	// Renderers carry out foreign work.
	Renderers renderers.Renderers
	// Log is where the controllers log to.
	Log logr.Logger
	// Memory is how many bytes the objects of each cluster may have; 0 is a default.
	Memory int
}

// Landscape is a landscape in memory that runs.
type Landscape struct {
	// Resource is the resource cluster.
	Resource *apiserver.Server
	// Notes say what was made up.
	Notes []string

	options    Options
	components *replaceable
	// written are the objects that the resource cluster has from the folder, as they were written last.
	// Start writes them first, and then one change after the other.
	written []*unstructured.Unstructured
	engine  *rules.Engine
	end     context.CancelFunc
	running sync.WaitGroup

	mutex    sync.Mutex
	targets  map[string]*Cluster
	names    map[string]string
	problems []error
	failed   chan struct{}

	creation sync.Mutex
	created  []string
}

// Cluster is a target cluster.
type Cluster struct {
	// Name is that of its Target.
	Name   string
	Server *apiserver.Server
}

// ownKinds are those of Landscaper, as the installer would define them.
var ownKinds = sync.OnceValues(func() ([]*apiserver.Kind, error) {
	definitions, err := install.CRDs()
	if err != nil {
		return nil, err // an embedded file
	}
	var kinds []*apiserver.Kind
	for _, definition := range definitions {
		kinds = append(kinds, apiserver.DefinedKinds(definition)...)
	}
	return kinds, nil
})

// Start brings up a landscape. It ends with the context, or with Close.
func Start(ctx context.Context, options Options) (*Landscape, error) {
	kinds, err := ownKinds()
	if err != nil {
		return nil, err
	}
	ctx, end := context.WithCancel(ctx)
	l := &Landscape{
		Resource: apiserver.New(apiserver.Options{Kinds: kinds, Memory: options.Memory}),
		options:  options, end: end, targets: map[string]*Cluster{}, names: map[string]string{}, components: &replaceable{}, failed: make(chan struct{}),
	}
	l.components.set(options.Components)
	l.engine = rules.NewEngine(options.Behaviour, l.put, l.report)
	if err := l.fill(); err != nil {
		end()
		return nil, err
	}
	l.running.Go(func() { l.engine.Run(ctx) })
	l.running.Go(func() {
		if err := server.Run(ctx, l.config(), options.Log); err != nil && ctx.Err() == nil {
			l.report(fmt.Errorf("the controllers have ended: %w", err))
			close(l.failed)
		}
	})
	return l, nil
}

// Close ends the landscape. What its clusters have can still be read.
func (l *Landscape) Close() {
	l.end()
	l.Resource.Close()
	l.mutex.Lock()
	for _, cluster := range l.targets {
		cluster.Server.Close()
	}
	l.mutex.Unlock()
	l.running.Wait()
}

// Config returns how clients of this process reach the resource cluster.
func (l *Landscape) Config() *rest.Config { return l.Resource.Config(resourceHost) }

// Failed is closed if the controllers have ended by themselves; Problems says why.
func (l *Landscape) Failed() <-chan struct{} { return l.failed }

// Problems returns what went wrong beside the Installations.
func (l *Landscape) Problems() error {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return errors.Join(l.problems...)
}

// Clusters returns the target clusters that were reached or have something, by their names.
func (l *Landscape) Clusters() []*Cluster {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	var all []*Cluster
	for _, cluster := range l.targets {
		all = append(all, cluster)
	}
	slices.SortFunc(all, func(a, b *Cluster) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (l *Landscape) report(err error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	const most = 20
	if len(l.problems) < most {
		l.problems = append(l.problems, err)
	}
}

// config is the configuration of the controllers. They have the defaults of a server, and no workers
// that nothing needs.
func (l *Landscape) config() server.Config {
	config := server.Default()
	config.Cluster = l.Config()
	config.Controllers = append(config.Controllers, server.Mocks)
	config.MetricsAddress, config.HealthAddress = "0", "0"
	config.ShutdownTimeout = shutdown
	config.Egress = egress.Offline(offlineRemedy)
	if l.options.Online {
		config.Egress = egress.Unrestricted()
	}
	config.Embedded = &server.Embedding{Targets: network{l}, Renderers: l.options.Renderers}
	if l.options.Components != nil || l.options.Changing {
		config.Embedded.Components = l.components
	}
	return config
}

// network leads requests to the clusters by their hosts.
type network struct{ landscape *Landscape }

// RoundTrip implements http.RoundTripper.
func (n network) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Host == resourceHost {
		return n.landscape.Resource.RoundTrip(request)
	}
	cluster, err := n.landscape.cluster(request.URL.Host)
	if err != nil {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return nil, err
	}
	return cluster.Server.RoundTrip(request)
}

// cluster returns the target cluster at a host, and makes it at the first request.
func (l *Landscape) cluster(host string) (*Cluster, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if found := l.targets[host]; found != nil {
		return found, nil
	}
	if len(l.targets) >= maxClusters {
		return nil, fmt.Errorf("there are more than %d target clusters in memory", maxClusters)
	}
	name := l.names[host]
	if name == "" {
		name = host // a Target that an Installation exports
	}
	made := &Cluster{Name: name}
	made.Server = apiserver.New(apiserver.Options{
		Kinds: kindsOf(l.options.Behaviour, name), Memory: l.options.Memory,
		Intercept: l.intercept(made, l.engine.Intercept(name)),
		Changed:   l.changed(l.engine.Changed(name)),
	})
	for _, definition := range l.options.Definitions {
		if err := made.Server.Put(definition); err != nil {
			return nil, fmt.Errorf("CustomResourceDefinition %s: %w", definition.GetName(), err)
		}
	}
	for _, given := range l.options.Behaviour.For(name) {
		if err := putAll(made.Server, given.Given); err != nil {
			return nil, fmt.Errorf("what cluster %s has from the beginning: %w", name, err)
		}
	}
	l.targets[host] = made
	return made, nil
}

// changed notes what is created, and in which order.
func (l *Landscape) changed(next func(*apiserver.Server, apiserver.Change)) func(*apiserver.Server, apiserver.Change) {
	return func(server *apiserver.Server, change apiserver.Change) {
		if change.Before == nil {
			l.creation.Lock()
			l.created = append(l.created, change.After.GetKind()+" "+change.After.GetName())
			l.creation.Unlock()
		}
		next(server, change)
	}
}

// intercept lets namespaces exist: on clusters of people they do, and nothing else would make them.
func (l *Landscape) intercept(cluster *Cluster, next func(context.Context, apiserver.Request) error) func(context.Context, apiserver.Request) error {
	return func(ctx context.Context, request apiserver.Request) error {
		if request.Kind.Namespaced && (request.Verb == "create" || request.Verb == "patch") {
			cluster.Server.EnsureNamespace(request.Namespace)
		}
		return next(ctx, request)
	}
}

// kindsOf are the kinds that a cluster serves without a definition: those of Flux, and those of the rules.
func kindsOf(behaviour rules.Behaviour, cluster string) []*apiserver.Kind {
	kinds := slices.Clone(fluxKinds)
	for _, given := range behaviour.For(cluster) {
		for _, served := range given.Kinds {
			kind := apiserver.NewKind(schema.FromAPIVersionAndKind(served.APIVersion, served.Kind), served.Resource)
			kind.Namespaced = !served.Global
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// fluxKinds are those of Flux, which bring objects to clusters that cannot be seen here.
var fluxKinds = func() []*apiserver.Kind {
	var kinds []*apiserver.Kind
	for apiVersion, names := range map[string][]string{
		"source.toolkit.fluxcd.io/v1":            {"GitRepository", "OCIRepository", "HelmRepository", "HelmChart", "Bucket", "ExternalArtifact"},
		"kustomize.toolkit.fluxcd.io/v1":         {"Kustomization"},
		"helm.toolkit.fluxcd.io/v2":              {"HelmRelease"},
		"notification.toolkit.fluxcd.io/v1":      {"Receiver"},
		"notification.toolkit.fluxcd.io/v1beta3": {"Alert", "Provider"},
	} {
		for _, name := range names {
			kinds = append(kinds, apiserver.NewKind(schema.FromAPIVersionAndKind(apiVersion, name), ""))
		}
	}
	return kinds
}()

func putAll(server *apiserver.Server, given rules.Given) error {
	for _, manifest := range given.Manifests {
		object := manifest.Object()
		namespace := object.GetNamespace()
		if namespace == "" && !apiserver.IsGlobal(object.GetKind()) {
			namespace = "default"
		}
		// What has appeared once stays as it is, with what its controllers have filled in.
		if server.Find(object.GroupVersionKind(), types.NamespacedName{Namespace: namespace, Name: object.GetName()}) != nil {
			continue
		}
		if err := server.Put(manifest.Object()); err != nil {
			return fmt.Errorf("%s %s: %w", manifest.Object().GetKind(), manifest.Object().GetName(), err)
		}
	}
	return nil
}

// put writes objects to the cluster of a Target.
func (l *Landscape) put(name string, given rules.Given) error {
	host := ""
	l.mutex.Lock()
	for candidate, known := range l.names {
		if known == name {
			host = candidate
		}
	}
	l.mutex.Unlock()
	if host == "" {
		return fmt.Errorf("there is no Target %s", name)
	}
	cluster, err := l.cluster(host)
	if err != nil {
		return err
	}
	return putAll(cluster.Server, given)
}

// Discard is a log that keeps nothing.
func Discard() logr.Logger { return logr.Discard() }

// Log returns a log for people.
func Log(to io.Writer) logr.Logger {
	return logr.FromSlogHandler(newHandler(to))
}
