// Package connection is how commands reach the resource cluster: which one, as whom,
// and in which namespace.
package connection

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/commandline"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/landscape/inspect/reading"
	"go.landscaper.dev/internal/runtime/rewatch"
)

// Flags choose the cluster, the user and the namespace. They are those of kubectl.
type Flags struct {
	kubeconfig, namespace string
	overrides             clientcmd.ConfigOverrides
	requestTimeout        time.Duration
	// manifests is the namespace that a command writes into manifests.
	manifests *string
}

// Add adds the flags to a command.
func (f *Flags) Add(command *cobra.Command) {
	flags := command.Flags()
	o := &f.overrides
	f.addKubeconfig(flags)
	flags.StringVar(&o.CurrentContext, "context", "", "context of the kubeconfig (default: its current context)")
	flags.StringVar(&o.Context.Cluster, "cluster", "", "cluster of the kubeconfig")
	flags.StringVar(&o.Context.AuthInfo, "user", "", "user of the kubeconfig")
	flags.StringVar(&o.ClusterInfo.Server, "server", "", "address of the API server")
	flags.StringVar(&o.ClusterInfo.TLSServerName, "tls-server-name", "", "name that the certificate of the API server must have")
	flags.StringVar(&o.ClusterInfo.CertificateAuthority, "certificate-authority", "", "`file` with the authority of the API server's certificate")
	flags.BoolVar(&o.ClusterInfo.InsecureSkipTLSVerify, "insecure-skip-tls-verify", false, "do not check the API server's certificate")
	flags.BoolVar(&o.ClusterInfo.DisableCompression, "disable-compression", false, "do not ask for compressed answers")
	flags.StringVar(&o.AuthInfo.Token, "token", "", "bearer token for the API server")
	flags.StringVar(&o.AuthInfo.ClientCertificate, "client-certificate", "", "`file` with a client certificate")
	flags.StringVar(&o.AuthInfo.ClientKey, "client-key", "", "`file` with the key of the client certificate")
	flags.StringVar(&o.AuthInfo.Impersonate, "as", "", "user to act as")
	flags.StringVar(&o.AuthInfo.ImpersonateUID, "as-uid", "", "UID to act as")
	flags.StringArrayVar(&o.AuthInfo.ImpersonateGroups, "as-group", nil, "group to act as; may be repeated")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace (default: that of the context, or default)")
	flags.DurationVar(&f.requestTimeout, "request-timeout", 0, "limit for a single request, such as 10s; 0 means none")
	// The flags exist: they were just defined.
	_ = command.RegisterFlagCompletionFunc("namespace", completeNamespaces(f))
	_ = command.RegisterFlagCompletionFunc("context", f.completeEntries(contexts))
	_ = command.RegisterFlagCompletionFunc("cluster", f.completeEntries(clusters))
	_ = command.RegisterFlagCompletionFunc("user", f.completeEntries(users))
}

// AddTo adds to a command that writes manifests what it needs to apply them: other flags
// for a connection have another meaning there.
func (f *Flags) AddTo(command *cobra.Command, namespace *string) {
	f.addKubeconfig(command.Flags())
	f.manifests = namespace
	_ = command.RegisterFlagCompletionFunc("namespace", completeNamespaces(f))
}

func (f *Flags) addKubeconfig(flags *pflag.FlagSet) {
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the cluster that the program runs in)")
}

// Connection is a cluster and a namespace.
type Connection struct {
	// Client reads and writes, each request within the time limit.
	Client client.Client
	// Watches have no time limit. They are resumed only in the history of the API server that
	// they have begun in.
	Watches client.WithWatch
	// Namespace is the one that is worked in.
	Namespace string
	// Where names the cluster for messages.
	Where string
	// Config is how the cluster is reached.
	Config *rest.Config
	// ahead is by how much the clock of the API server is ahead of ours.
	ahead *atomic.Int64
}

func (f *Flags) clientConfig() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	overrides := f.overrides
	overrides.Context.Namespace = f.namespace
	if f.manifests != nil {
		overrides.Context.Namespace = *f.manifests
	}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
}

// Connect makes the clients. It makes no request.
func (f *Flags) Connect() (*Connection, error) { return f.ConnectAs("landscaper-cli") }

// ConnectAs is Connect under another name than that of the program. API servers write it into
// objects as the name of the client.
func (f *Flags) ConnectAs(agent string) (*Connection, error) {
	loader := f.clientConfig()
	config, err := loader.ClientConfig()
	if err != nil {
		if clientcmd.IsEmptyConfig(err) {
			return nil, errors.New("no cluster to talk to: name a kubeconfig with --kubeconfig or $KUBECONFIG")
		}
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fmt.Errorf("read the namespace of the kubeconfig: %w", err)
	}
	config.UserAgent = agent
	return f.to(config, namespace, f.where(loader, config))
}

// To returns the connection to a cluster that a command has brought up itself.
func To(config *rest.Config, namespace, where string) (*Connection, error) {
	config.UserAgent = "landscaper-cli"
	return (&Flags{}).to(config, namespace, where)
}

// to makes the clients.
func (f *Flags) to(config *rest.Config, namespace, where string) (*Connection, error) {
	// The API server's own fairness decides; a client-side limit would only add
	// waiting on top of it.
	config.QPS = -1
	ahead := &atomic.Int64{}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return clock{next, ahead} })
	watches, err := newClient(rewatch.Config(config, nil))
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	limited := rest.CopyConfig(config)
	limited.Timeout = f.requestTimeout
	requests, err := newClient(limited)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return &Connection{Client: requests, Watches: watches, Namespace: namespace, Where: where, Config: limited, ahead: ahead}, nil
}

func (f *Flags) where(loader clientcmd.ClientConfig, config *rest.Config) string {
	name := f.overrides.CurrentContext
	if raw, err := loader.RawConfig(); name == "" && err == nil {
		name = raw.CurrentContext
	}
	if name == "" {
		return "the cluster " + config.Host
	}
	return fmt.Sprintf("the cluster %s (context %s)", config.Host, name)
}

// DefinitionKind is the kind of objects that define kinds.
var DefinitionKind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// kinds are those that commands work with, by their scope.
var kinds = map[meta.RESTScope][]schema.GroupVersionKind{
	meta.RESTScopeNamespace: append(ours(
		"Installation", "Execution", "DeployItem", "DataObject", "Target", "Context", "ComponentVersionOverwrites", "TargetSync", "LsHealthCheck",
	), append(theirs("Secret", "ConfigMap", "Event", "ServiceAccount"), append(append(ofDelivery("DeliveryPolicy", "DeliveryRevision", "DeliveryPlan", "DeliveryApproval"), versioned(fleetv1alpha1.GroupVersion, []string{"Fleet", "Channel"})...), coordinationv1.SchemeGroupVersion.WithKind("Lease"), appsv1.SchemeGroupVersion.WithKind("ControllerRevision"))...)...),
	meta.RESTScopeRoot: append(theirs("Namespace"), DefinitionKind, authenticationv1.SchemeGroupVersion.WithKind("SelfSubjectReview")),
}

func ours(names ...string) []schema.GroupVersionKind {
	return versioned(v1alpha1.GroupVersion, names)
}

func theirs(names ...string) []schema.GroupVersionKind {
	return versioned(corev1.SchemeGroupVersion, names)
}

func ofDelivery(names ...string) []schema.GroupVersionKind {
	return versioned(deliveryv1alpha1.GroupVersion, names)
}

func versioned(version schema.GroupVersion, names []string) []schema.GroupVersionKind {
	all := make([]schema.GroupVersionKind, len(names))
	for i, name := range names {
		all[i] = version.WithKind(name)
	}
	return all
}

// newClient returns a client that knows our kinds by itself: asking the API
// server for them would cost more requests than the work.
func newClient(config *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	utilruntime.Must(deliveryv1alpha1.AddToScheme(scheme))
	utilruntime.Must(fleetv1alpha1.AddToScheme(scheme))
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(appsv1.AddToScheme(scheme))
	utilruntime.Must(coordinationv1.AddToScheme(scheme))
	utilruntime.Must(authenticationv1.AddToScheme(scheme))
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1alpha1.GroupVersion, corev1.SchemeGroupVersion})
	for scope, all := range kinds {
		for _, kind := range all {
			mapper.Add(kind, scope)
		}
	}
	return client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
}

// Installation reads an Installation of the namespace.
func (c *Connection) Installation(ctx context.Context, name string) (*v1alpha1.Installation, error) {
	installation := &v1alpha1.Installation{}
	err := c.Client.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, installation)
	return installation, err
}

// Explain adds to an error of the API server what to do about it.
func (c *Connection) Explain(err error) error {
	switch {
	case apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return terminal.Exitf(terminal.ExitNotFound, "the CustomResourceDefinition %s is not installed in %s: choose another cluster with --context or --kubeconfig, or install it with landscaper install", missingResource(err), c.Where)
	case apierrors.IsUnauthorized(err):
		return terminal.Exitf(terminal.ExitForbidden, "%s does not accept the credentials of the kubeconfig: %w", c.Where, err)
	}
	return err
}

// Tree reads an Installation with all that belongs to it, and the snapshot that it is
// from, with more sources: what is unreadable in it is missing in the tree.
func (c *Connection) Tree(ctx context.Context, name string, more ...reading.Source) (*inspect.Node, inspect.Snapshot, error) {
	snapshot, err := reading.Collect(ctx, c.Client, c.Namespace, more...)
	if err != nil {
		return nil, snapshot, c.Explain(err)
	}
	tree := inspect.Tree(snapshot, c.Namespace, name)
	if tree == nil {
		return nil, snapshot, c.Missing(name)
	}
	return tree, snapshot, nil
}

// WarnUnreadable says what a snapshot lacks, and so what is shown of it, in the API
// server's words.
func WarnUnreadable(out io.Writer, what string, snapshot inspect.Snapshot) {
	for _, unreadable := range snapshot.Unreadable {
		fmt.Fprintf(out, "Warning: %s: %s\n", what, terminal.OneLine(unreadable.Error()))
	}
}

// NeedsName demands the name of an Installation as an argument.
func NeedsName(command *cobra.Command, args []string) error {
	if len(args) == 0 || args[0] == "" {
		return commandline.Wrong(command, "installationName was not defined: NAME is missing: name the Installation")
	}
	return nil
}

// Missing says that there is no Installation of a name.
func (c *Connection) Missing(name string) error {
	return terminal.Exitf(terminal.ExitNotFound, "there is no Installation %s in namespace %s: see what exists with landscaper-cli installations inspect -A", name, c.Namespace)
}

func missingResource(err error) string {
	var read *inspect.ReadError
	if errors.As(err, &read) {
		return read.Resource.String()
	}
	return v1alpha1.Resource("installations").String()
}
