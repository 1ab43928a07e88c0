// Package scenario is what whole scenarios have in common: a lab whose resource cluster
// has the kinds and a user for the server, namespaces with a Target, servers that end
// with their test, and waits that end with an event.
package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// ServerUser is the identity of the server on the resource cluster. It has the rules of
// the chart and nothing else.
const ServerUser = "landscaper-server"

// WaitLimit bounds every wait; a wait ends with its event, long before.
const WaitLimit = 3 * time.Minute

// World is a lab that all scenarios of a package share.
type World struct {
	Lab *lab.Lab
	// Resource has the Installations, Target is where the Targets of namespaces lead to.
	Resource, Target *lab.Cluster
	// Admin and Workload are administrators' clients for the two.
	Admin, Workload client.WithWatch
	// ServerKubeconfig is what the server connects with.
	ServerKubeconfig string
	// TargetKubeconfig is what Targets hold.
	TargetKubeconfig string
}

// Main runs the tests of a package in a lab, which has the clusters "resource" and
// "target" and what else is asked for, and returns the exit code.
func (w *World) Main(m *testing.M, options lab.Options) int {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	options.Clusters = append([]string{"resource", "target"}, options.Clusters...)
	started, err := lab.Start(ctx, options)
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the lab:", err)
		return 1
	}
	defer func() {
		if err := started.Down(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "end the lab:", err)
		}
	}()
	if err := w.setUp(ctx, started); err != nil {
		fmt.Fprintln(os.Stderr, "set up:", err)
		return 1
	}
	return m.Run()
}

func (w *World) setUp(ctx context.Context, started *lab.Lab) error {
	w.Lab, w.Resource, w.Target = started, started.Clusters["resource"], started.Clusters["target"]
	var err error
	if w.Admin, err = landscape.Connect(w.Resource.Kubeconfig); err != nil {
		return err
	}
	if w.Workload, err = landscape.Connect(w.Target.Kubeconfig); err != nil {
		return err
	}
	if err := install.Run(ctx, w.Admin, install.Options{}, &bytes.Buffer{}); err != nil {
		return err
	}
	rules, err := w.ChartRules(ServerUser)
	if err != nil {
		return err
	}
	user, err := w.Resource.AddUser(ctx, lab.UserOptions{Name: ServerUser, ManifestFile: rules})
	if err != nil {
		return err
	}
	w.ServerKubeconfig = user.Kubeconfig
	deployer, err := w.Target.AddUser(ctx, lab.UserOptions{Name: "landscaper-deployer", ClusterRoles: []string{"cluster-admin"}})
	if err != nil {
		return err
	}
	content, err := os.ReadFile(deployer.Kubeconfig)
	w.TargetKubeconfig = string(content)
	return err
}

// ChartRules writes the rules of the chart, bound to a user, to a file.
func (w *World) ChartRules(user string) (string, error) {
	return landscape.WriteRules(w.Lab.Directory, user, nil)
}

// Namespace makes a namespace with a Target for a test.
func (w *World) Namespace(t *testing.T) string {
	t.Helper()
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := w.Admin.Create(t.Context(), space); err != nil {
		t.Fatal(err)
	}
	if err := w.Workload.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space.Name}}); err != nil {
		t.Fatal(err)
	}
	w.CreateTarget(t, space.Name, "host", w.TargetKubeconfig)
	return space.Name
}

// CreateTarget makes a Target with an inline kubeconfig.
func (w *World) CreateTarget(t *testing.T, namespace, name, kubeconfig string) {
	t.Helper()
	target, err := landscape.Target(namespace, name, kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Admin.Create(t.Context(), target); err != nil {
		t.Fatal(err)
	}
}

// ReplaceTarget makes a Target anew, with another kubeconfig.
func (w *World) ReplaceTarget(t *testing.T, namespace, name, kubeconfig string) {
	t.Helper()
	if err := w.Admin.Delete(t.Context(), &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}); err != nil {
		t.Fatal(err)
	}
	w.CreateTarget(t, namespace, name, kubeconfig)
}

// CreateAll stores objects.
func (w *World) CreateAll(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := w.Admin.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// Create stores an Installation.
func (w *World) Create(t *testing.T, inst *v1alpha1.Installation) *v1alpha1.Installation {
	t.Helper()
	if err := w.Admin.Create(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	return inst
}

// Installation reads an Installation as it is now.
func (w *World) Installation(t *testing.T, inst *v1alpha1.Installation) *v1alpha1.Installation {
	t.Helper()
	current := &v1alpha1.Installation{}
	if err := w.Admin.Get(t.Context(), client.ObjectKeyFromObject(inst), current); err != nil {
		t.Fatal(err)
	}
	return current
}

// ItemsByName reads the items of a namespace, by their names in their Executions.
func (w *World) ItemsByName(t *testing.T, space string) map[string]*v1alpha1.DeployItem {
	t.Helper()
	list := &v1alpha1.DeployItemList{}
	if err := w.Admin.List(t.Context(), list, client.InNamespace(space)); err != nil {
		t.Fatal(err)
	}
	items := map[string]*v1alpha1.DeployItem{}
	for i := range list.Items {
		items[list.Items[i].Labels[v1alpha1.ExecutionManagedNameLabel]] = &list.Items[i]
	}
	return items
}

// Request asks for an operation.
func (w *World) Request(t *testing.T, inst *v1alpha1.Installation, operation v1alpha1.Operation) {
	t.Helper()
	w.Annotate(t, inst, map[string]string{v1alpha1.OperationAnnotation: string(operation)})
}

// Annotate sets annotations of an object.
func (w *World) Annotate(t *testing.T, object client.Object, annotations map[string]string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		t.Fatal(err)
	}
	object, _ = object.DeepCopyObject().(client.Object)
	if err := w.Admin.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		t.Fatal(err)
	}
}

// ConfigMap is a ConfigMap by its name.
func ConfigMap(space, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name}}
}
