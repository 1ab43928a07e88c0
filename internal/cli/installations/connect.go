package installations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/inspect"
)

// connectionFlags choose the cluster, the user and the namespace.
type connectionFlags struct {
	kubeconfig, context, cluster, user, namespace string
	impersonate                                   string
	groups                                        []string
	requestTimeout                                time.Duration
}

func (f *connectionFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default: $KUBECONFIG, then ~/.kube/config, then the cluster that the program runs in)")
	flags.StringVar(&f.context, "context", "", "context of the kubeconfig (default: its current context)")
	flags.StringVar(&f.cluster, "cluster", "", "cluster of the kubeconfig")
	flags.StringVar(&f.user, "user", "", "user of the kubeconfig")
	flags.StringVar(&f.impersonate, "as", "", "user to act as")
	flags.StringSliceVar(&f.groups, "as-group", nil, "group to act as; may be repeated")
	flags.StringVarP(&f.namespace, "namespace", "n", "", "namespace (default: that of the context, or default)")
	flags.DurationVar(&f.requestTimeout, "request-timeout", 0, "limit for a single request, such as 10s; 0 means none")
	// The flags exist: they were just defined.
	_ = command.RegisterFlagCompletionFunc("namespace", completeNamespaces(f))
	_ = command.RegisterFlagCompletionFunc("context", completeContexts(f))
}

// connection is a cluster and a namespace.
type connection struct {
	// reads and writes, each request within the time limit.
	client client.Client
	// watches have no time limit.
	watches   client.WithWatch
	namespace string
	// where names the cluster for messages.
	where string
}

func (f *connectionFlags) clientConfig() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{
		CurrentContext: f.context,
		Context:        clientcmdapi.Context{Cluster: f.cluster, AuthInfo: f.user, Namespace: f.namespace},
		AuthInfo:       clientcmdapi.AuthInfo{Impersonate: f.impersonate, ImpersonateGroups: f.groups},
	})
}

func (f *connectionFlags) connect() (*connection, error) {
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
	config.UserAgent = "landscaper-cli"
	// The API server's own fairness decides; a client-side limit would only add
	// waiting on top of it.
	config.QPS = -1
	watches, err := newClient(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	config = rest.CopyConfig(config)
	config.Timeout = f.requestTimeout
	requests, err := newClient(config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", config.Host, err)
	}
	return &connection{client: requests, watches: watches, namespace: namespace, where: f.where(loader, config)}, nil
}

func (f *connectionFlags) where(loader clientcmd.ClientConfig, config *rest.Config) string {
	name := f.context
	if raw, err := loader.RawConfig(); name == "" && err == nil {
		name = raw.CurrentContext
	}
	if name == "" {
		return "the cluster " + config.Host
	}
	return fmt.Sprintf("the cluster %s (context %s)", config.Host, name)
}

// newClient returns a client that knows our kinds by itself: asking the API
// server for them would cost more requests than the work.
func newClient(config *rest.Config) (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	utilruntime.Must(corev1.AddToScheme(scheme))
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1alpha1.GroupVersion})
	for _, kind := range []string{"Installation", "Execution", "DeployItem"} {
		mapper.Add(v1alpha1.GroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Namespace"), meta.RESTScopeRoot)
	return client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
}

// installation reads an Installation of the namespace.
func (c *connection) installation(ctx context.Context, name string) (*v1alpha1.Installation, error) {
	installation := &v1alpha1.Installation{}
	err := c.client.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: name}, installation)
	return installation, err
}

// explain adds to an error of the API server what to do about it.
func (c *connection) explain(err error) error {
	switch {
	case apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse):
		return terminal.Exitf(terminal.ExitNotFound, "the CustomResourceDefinition %s is not installed in %s: choose another cluster with --context or --kubeconfig, or install it with landscaper install", missingResource(err), c.where)
	case apierrors.IsUnauthorized(err):
		return terminal.Exitf(terminal.ExitForbidden, "%s does not accept the credentials of the kubeconfig: %w", c.where, err)
	}
	return err
}

func missingResource(err error) string {
	var read *inspect.ReadError
	if errors.As(err, &read) {
		return read.Resource.String()
	}
	return v1alpha1.Resource("installations").String()
}
