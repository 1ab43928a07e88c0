// Package integration holds the tests of the API against a real API server.
package integration

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/validation"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/lab"
)

var (
	// clusters are the clusters of the lab: resource has our API, public begins with that of
	// upstream.
	clusters map[string]*lab.Cluster
	// config is the connection to the API server.
	config *rest.Config
	// cluster is a client for it.
	cluster client.WithWatch
	// sources are the administrator's permissions in the tests.
	sources = validation.SourceNamespaces{"shared": {"default"}}
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	started, err := lab.Start(ctx, lab.Options{Clusters: []string{"resource", "public"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the lab:", err)
		return 1
	}
	defer func() {
		if err := started.Down(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "end the lab:", err)
		}
	}()
	clusters = started.Clusters
	if err := start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func start(ctx context.Context) error {
	var err error
	config, cluster, err = connect(clusters["resource"])
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := install.Run(ctx, cluster, install.Options{SourceNamespaces: sources}, &out); err != nil {
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	return waitForPolicies(ctx)
}

// connect returns an administrator's connection to a cluster of the lab.
func connect(to *lab.Cluster) (*rest.Config, client.WithWatch, error) {
	config, err := clientcmd.BuildConfigFromFlags("", to.Kubeconfig)
	if err != nil {
		return nil, nil, err
	}
	config.QPS = -1
	cluster, err := client.NewWithWatch(config, client.Options{Scheme: install.Scheme()})
	return config, cluster, err
}

// waitForPolicies returns when the API server applies the policies of all kinds; it loads them a
// moment after they were stored.
func waitForPolicies(ctx context.Context) error {
	violations := []string{
		"{kind: Installation, spec: {blueprint: {}}}",
		"{kind: Execution, spec: {deployItems: [{name: '', type: t, config: {apiVersion: v1, kind: Any}}]}}",
		"{kind: DeployItem, spec: {type: ''}}",
		"{kind: Target, spec: {type: t, config: {}, secretRef: {name: s}}}",
	}
	for _, violation := range violations {
		object, err := parse(violation)
		if err != nil {
			return err
		}
		for {
			err := cluster.Create(ctx, object.DeepCopy(), client.DryRunAll)
			if err != nil && strings.Contains(err.Error(), "ValidatingAdmissionPolicy") {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("the policy for %s is not in force: last answer %w", object.GetKind(), err)
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	return nil
}

// complete fills in what the short objects of the tests leave out.
func complete(object *unstructured.Unstructured) {
	if object.GetAPIVersion() == "" {
		object.SetAPIVersion(v1alpha1.GroupVersion.String())
	}
	if object.GetName() == "" && object.GetGenerateName() == "" {
		object.SetGenerateName("test-")
	}
	if object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
	}
}

// createAndRead stores an object with its status and returns what is stored. The
// object is removed when the test ends.
func createAndRead(t *testing.T, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	status, hasStatus := object.Object["status"]
	stored := object.DeepCopy()
	if err := cluster.Create(t.Context(), stored); err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := cluster.Delete(context.Background(), stored); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
	if _, isMap := status.(map[string]any); !hasStatus || !isMap {
		return stored, nil
	}
	stored.Object["status"] = status
	if observed, ok := stored.Object["status"].(map[string]any); ok && observed["observedGeneration"] == nil {
		observed["observedGeneration"] = int64(1)
	}
	return stored, cluster.Status().Update(t.Context(), stored)
}
