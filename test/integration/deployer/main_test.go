// Package deployer_test holds the tests of the deployer library and the manifest
// deployer against real API servers.
package deployer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/content/component"
	"go.landscaper.dev/internal/deploy/helm"
	"go.landscaper.dev/internal/deploy/helm/chart"
	"go.landscaper.dev/internal/deploy/itemcontext"
	"go.landscaper.dev/internal/deploy/kustomize"
	"go.landscaper.dev/internal/deploy/kustomize/files"
	"go.landscaper.dev/internal/deploy/manifest"
	"go.landscaper.dev/internal/deploy/mock"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/server"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/lab"
)

// user is the name of the deployer in the audit logs of both clusters.
const user = "deployer"

var (
	// environment is the lab that all tests share.
	environment *lab.Lab
	// resource is the cluster with the DeployItems, target the one to deploy to.
	resource, target *lab.Cluster
	// items and deployed are administrators' clients for both.
	items, deployed client.WithWatch
	// access is the kubeconfig that Targets hold. It goes through the fault proxy.
	access []byte
	// plainAccess is the same without the fault proxy.
	plainAccess []byte
	// edgeAccess is a kubeconfig for the resource cluster, as the second cluster of
	// items that look at two.
	edgeAccess []byte
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var err error
	environment, err = lab.Start(ctx, lab.Options{Clusters: []string{"resource", "target"}, With: []string{"kwok=target", "issuer=resource", "registry-auth", "git-auth"}, KwokNodes: 1})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the lab:", err)
		return 1
	}
	defer func() {
		if err := environment.Down(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "end the lab:", err)
		}
	}()
	stop, err := start(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer stop()
	return m.Run()
}

// start prepares both clusters and runs the deployer against them.
func start(ctx context.Context) (stop func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	resource, target = environment.Clusters["resource"], environment.Clusters["target"]
	if items, err = connect(resource.Kubeconfig); err != nil {
		return nil, err
	}
	if deployed, err = connect(target.Kubeconfig); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := install.Run(ctx, items, install.Options{SkipPolicies: true}, &out); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out.String())
	}
	there, err := target.AddUser(ctx, lab.UserOptions{Name: user, ThroughProxy: true, ClusterRoles: []string{"cluster-admin"}})
	if err != nil {
		return nil, err
	}
	plain, err := target.AddUser(ctx, lab.UserOptions{Name: user})
	if err != nil {
		return nil, err
	}
	if access, err = os.ReadFile(there.Kubeconfig); err != nil {
		return nil, err
	}
	if plainAccess, err = os.ReadFile(plain.Kubeconfig); err != nil {
		return nil, err
	}
	edge, err := resource.AddUser(ctx, lab.UserOptions{Name: "edge", ClusterRoles: []string{"cluster-admin"}})
	if err != nil {
		return nil, err
	}
	if edgeAccess, err = os.ReadFile(edge.Kubeconfig); err != nil {
		return nil, err
	}
	here, err := resource.AddUser(ctx, lab.UserOptions{Name: user, ThroughProxy: true, ManifestFile: "testdata/rbac.yaml"})
	if err != nil {
		return nil, err
	}
	return runDeployer(here.Kubeconfig)
}

// scheme has all kinds that the tests and the deployer work with.
func scheme() *runtime.Scheme {
	s := install.Scheme()
	if err := errors.Join(clientgoscheme.AddToScheme(s), v1alpha1.AddToScheme(s)); err != nil {
		panic(err)
	}
	return s
}

func connect(kubeconfig string) (client.WithWatch, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return client.NewWithWatch(config, client.Options{Scheme: scheme()})
}

// runDeployer runs the manifest deployer and the mock deployer until it is stopped. It serves requests
// once its caches are filled, so the tests need not wait for it.
func runDeployer(kubeconfig string) (stop func(), err error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	ctrl.SetLogger(logr.Discard())
	settings := server.Default()
	settings.Cluster, settings.MetricsAddress = config, "0"
	mgr, err := ctrl.NewManager(config, server.ManagerOptions(settings, logr.Discard()))
	if err != nil {
		return nil, err
	}
	clusters := deployer.NewClusters(mgr, "test", deployer.Egress{AllowLoopback: true})
	err = deployer.Add(mgr, deployer.Options{Type: manifest.Type, Name: manifest.Name, Version: "test", Identity: "test-deployer", Deployer: manifest.New(rollout.Options{Protected: []string{"kube-system"}}), Clusters: clusters})
	if err == nil {
		charts := helm.New(helm.Options{Charts: chart.New(chart.Options{Contexts: mgr.GetClient()})})
		err = deployer.Add(mgr, deployer.Options{Type: helm.Type, Name: helm.Name, Version: "test", Identity: "test-helm", Deployer: charts, Clusters: clusters})
	}
	if err == nil {
		err = deployer.Add(mgr, deployer.Options{Type: mock.Type, Name: mock.Name, Version: "test", Identity: "test-mock", Deployer: mock.New(), Clusters: clusters})
	}
	if err == nil {
		origins := itemcontext.Origins{Contexts: mgr.GetClient(), Sources: &repocontext.Reader{Client: mgr.GetAPIReader()}, Components: component.NewSharedWith(egress.Policy{AllowLoopback: true})}
		deploys := kustomize.New(kustomize.Options{Sources: &files.Loader{Origins: origins}})
		err = deployer.Add(mgr, deployer.Options{Type: kustomize.Type, Name: kustomize.Name, Version: "test", Identity: "test-kustomize", Deployer: deploys, Clusters: clusters})
	}
	if err == nil {
		err = deployer.Add(mgr, deployer.Options{Type: contextType, Name: contextType, Deployer: contextDeployer{}, Clusters: clusters})
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			fmt.Fprintln(os.Stderr, "the deployer ended:", err)
		}
	}, nil
}
