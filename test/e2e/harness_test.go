// Package e2e holds whole scenarios: the real server program against real API
// servers.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/install"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// serverUser is the identity of the server on the resource cluster. It has the
// rules of the chart and nothing else.
const serverUser = "landscaper-server"

// patience bounds every wait; a wait ends with its event, long before.
const patience = 3 * time.Minute

// environment is the lab that all scenarios share.
type environment struct {
	resource, target *lab.Cluster
	// admin and workload are administrators' clients.
	admin, workload client.WithWatch
	// serverKubeconfig is what the server connects with.
	serverKubeconfig string
	// targetKubeconfig is what Targets hold.
	targetKubeconfig string
	lab              *lab.Lab
	// registry has authentication and TLS.
	registry *lab.Registry
}

var env environment

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	started, err := lab.Start(ctx, lab.Options{Clusters: []string{"resource", "target"}, With: []string{"registry-auth", "registry-tls", "issuer=resource", "kwok=target"}, KwokNodes: 1})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the lab:", err)
		return 1
	}
	defer func() {
		if err := errors.Join(started.Down(context.Background()), endFluxLab()); err != nil {
			fmt.Fprintln(os.Stderr, "end the lab:", err)
		}
	}()
	if err := env.setUp(ctx, started); err != nil {
		fmt.Fprintln(os.Stderr, "set up:", err)
		return 1
	}
	return m.Run()
}

func (e *environment) setUp(ctx context.Context, started *lab.Lab) error {
	e.resource, e.target = started.Clusters["resource"], started.Clusters["target"]
	e.lab, e.registry = started, started.Registry
	var err error
	if e.admin, err = landscape.Connect(e.resource.Kubeconfig); err != nil {
		return err
	}
	if e.workload, err = landscape.Connect(e.target.Kubeconfig); err != nil {
		return err
	}
	if err := install.Run(ctx, e.admin, install.Options{}, &bytes.Buffer{}); err != nil {
		return err
	}
	rules, err := chartRules(serverUser)
	if err != nil {
		return err
	}
	user, err := e.resource.AddUser(ctx, lab.UserOptions{Name: serverUser, ManifestFile: rules})
	if err != nil {
		return err
	}
	e.serverKubeconfig = user.Kubeconfig
	deployer, err := e.target.AddUser(ctx, lab.UserOptions{Name: "landscaper-deployer", ClusterRoles: []string{"cluster-admin"}})
	if err != nil {
		return err
	}
	content, err := os.ReadFile(deployer.Kubeconfig)
	e.targetKubeconfig = string(content)
	return err
}

// serverProcess is a running server of a test.
type serverProcess struct {
	*landscape.Server
	t      *testing.T
	health string
	output output
	ended  <-chan struct{}
}

// output is what a server has said.
type output struct{ server *landscape.Server }

func (o output) String() string        { return o.server.Output() }
func (o output) tail(lines int) string { return o.server.Tail(lines) }

// startServer starts the server and returns when it is ready. It ends with the
// test.
func startServer(t *testing.T, kubeconfig string, args ...string) *serverProcess {
	t.Helper()
	s := launchServer(t, kubeconfig, args...)
	s.waitReady()
	return s
}

// launchServer starts the server without waiting for it.
func launchServer(t *testing.T, kubeconfig string, args ...string) *serverProcess {
	t.Helper()
	s := landscape.RunUnready(t, landscape.Options{Kubeconfig: kubeconfig, Args: args})
	return &serverProcess{Server: s, t: t, health: s.Health(), output: output{s}, ended: s.Ended()}
}

// waitReady returns when the server says that it is ready.
func (s *serverProcess) waitReady() {
	s.t.Helper()
	if err := s.WaitReady(s.t.Context()); err != nil {
		s.t.Fatalf("%v", err)
	}
}

// signal sends a signal that ends the server and returns when it has ended.
func (s *serverProcess) signal(signal os.Signal) {
	if err := s.Signal(signal); err != nil {
		s.t.Error(err)
	}
	<-s.ended
}

// namespace makes a namespace with a Target for a test.
func namespace(t *testing.T) string {
	t.Helper()
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := env.admin.Create(t.Context(), space); err != nil {
		t.Fatal(err)
	}
	if err := env.workload.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: space.Name}}); err != nil {
		t.Fatal(err)
	}
	createTarget(t, space.Name, "host", env.targetKubeconfig)
	return space.Name
}

// createTarget makes a Target with an inline kubeconfig.
func createTarget(t *testing.T, namespace, name, kubeconfig string) {
	t.Helper()
	target, err := landscape.Target(namespace, name, kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.admin.Create(t.Context(), target); err != nil {
		t.Fatal(err)
	}
}

// oneConfigMap is the template of most tests, newInstallation their Installation.
var (
	oneConfigMap    = landscape.OneConfigMap
	newInstallation = landscape.NewInstallation
)

// create stores an Installation.
func create(t *testing.T, inst *v1alpha1.Installation) *v1alpha1.Installation {
	t.Helper()
	if err := env.admin.Create(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	return inst
}

// waitFor watches an Installation until a condition holds and returns it.
func waitFor(t *testing.T, key client.ObjectKey, what string, condition func(*v1alpha1.Installation) bool) *v1alpha1.Installation {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var last *v1alpha1.Installation
	for {
		events, err := env.admin.Watch(ctx, &v1alpha1.InstallationList{}, client.InNamespace(key.Namespace), client.MatchingFields{"metadata.name": key.Name})
		if err != nil {
			t.Fatalf("waiting until %s %s: %v", key, what, err)
		}
		for event := range events.ResultChan() {
			if inst, ok := event.Object.(*v1alpha1.Installation); ok {
				last = inst
				if condition(inst) {
					events.Stop()
					return inst
				}
			}
		}
		if ctx.Err() != nil {
			text, err := yaml.Marshal(last)
			t.Fatalf("%s is not %s (%v):\n%s", key, what, err, text)
		}
	}
}

// waitFinished waits until the job of an Installation has ended after the given
// job, and returns the Installation.
func waitFinished(t *testing.T, inst *v1alpha1.Installation, after string) *v1alpha1.Installation {
	t.Helper()
	return waitFor(t, client.ObjectKeyFromObject(inst), "finished", func(inst *v1alpha1.Installation) bool {
		return inst.Status.JobID != after && inst.Status.JobID != "" && inst.Status.JobIDFinished == inst.Status.JobID
	})
}

// waitSucceeded waits until the first job of an Installation has succeeded.
func waitSucceeded(t *testing.T, inst *v1alpha1.Installation) *v1alpha1.Installation {
	t.Helper()
	finished := waitFinished(t, inst, "")
	if finished.Status.InstallationPhase != v1alpha1.InstallationPhases.Succeeded {
		t.Fatalf("%s ended in phase %s: %+v", inst.Name, finished.Status.InstallationPhase, finished.Status.LastError)
	}
	return finished
}

// request asks for an operation.
func request(t *testing.T, inst *v1alpha1.Installation, operation v1alpha1.Operation) {
	t.Helper()
	annotate(t, inst, map[string]string{v1alpha1.OperationAnnotation: string(operation)})
}

// annotate sets annotations of an object.
func annotate(t *testing.T, object client.Object, annotations map[string]string) {
	t.Helper()
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		t.Fatal(err)
	}
	object, _ = object.DeepCopyObject().(client.Object)
	if err := env.admin.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		t.Fatal(err)
	}
}

// waitGone watches until an object is deleted.
func waitGone(t *testing.T, cluster client.WithWatch, object client.Object, list client.ObjectList) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	events, err := cluster.Watch(ctx, list, client.InNamespace(object.GetNamespace()), client.MatchingFields{"metadata.name": object.GetName()})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	if err := cluster.Get(ctx, client.ObjectKeyFromObject(object), object); client.IgnoreNotFound(err) == nil && err != nil {
		return
	}
	for event := range events.ResultChan() {
		if event.Type == "DELETED" {
			return
		}
	}
	t.Fatalf("%T %s is still there", object, object.GetName())
}

// chartRules writes the rules of the chart, bound to a user, to a file.
func chartRules(user string) (string, error) {
	return landscape.WriteRules(env.lab.Directory, user, nil)
}
