// Package shootflux holds the tests of the extension shoot-flux as Gardener runs it:
// garden, seed and shoot are real clusters, and so are Flux and the Git server.
package shootflux

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/test/chart"
	"go.landscaper.dev/test/gardener"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

// waitLimit bounds every wait; a wait ends with its event, long before.
const waitLimit = 4 * time.Minute

var world *gardener.Landscape

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var err error
	if world, err = gardener.Start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "start the landscape:", err)
		return 1
	}
	defer func() {
		if err := world.Stop(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "end the landscape:", err)
		}
	}()
	if err := admit(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "admit the extension:", err)
		return 1
	}
	return m.Run()
}

// onSeed and inGarden are the extension, with the rights of its chart and its registration.
var onSeed, inGarden lab.User

// admit makes the users that the extension is.
func admit(ctx context.Context) error {
	directory, err := os.MkdirTemp("", "shootflux")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(directory) }() // it is in a folder for such
	const name = "extension"
	rules, err := landscape.WriteRulesOf(chart.ShootFlux, directory, name, nil)
	if err != nil {
		return err
	}
	if onSeed, err = world.Seed.AddUser(ctx, lab.UserOptions{Name: name, ManifestFile: rules}); err != nil {
		return err
	}
	manifest, err := chart.GardenRules(name)
	if err != nil {
		return err
	}
	if rules, err = landscape.WriteManifest(directory, manifest); err != nil {
		return err
	}
	inGarden, err = world.Garden.AddUser(ctx, lab.UserOptions{Name: name, ManifestFile: rules})
	return err
}

// extension runs the extension for a test, with further flags.
func extension(t *testing.T, flags ...string) *landscape.Server {
	t.Helper()
	return landscape.Run(t, options(t, flags...))
}

func options(t *testing.T, flags ...string) landscape.Options {
	t.Helper()
	program, err := landscape.Program("gardener-extension-shoot-flux")
	if err != nil {
		t.Fatal(err)
	}
	return landscape.Options{Program: program, Flags: func(health string) []string {
		return append([]string{
			"--kubeconfig", onSeed.Kubeconfig, "--garden-kubeconfig", inGarden.Kubeconfig, "--health-bind-address", health,
			"--metrics-bind-address", "0", "--log-level", "debug", "--log-format", "text", "--egress-allow-loopback", "--leader-election=false",
			"--heartbeat-namespace", chart.ShootFlux.Namespace, "--leader-election-namespace", chart.ShootFlux.Namespace, "--change-spread", "0s",
		}, flags...)
	}}
}

func limited(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	t.Cleanup(cancel)
	return ctx
}

var names atomic.Int32

// unique makes a name that no other test has, nor the same test in another round.
func unique(name string) string { return fmt.Sprintf("%s%d", name, names.Add(1)) }

// newShoot makes a shoot of a project. Its resource manager ends with the test.
func newShoot(t *testing.T, project, name string) *gardener.Shoot {
	t.Helper()
	shoot, err := world.AddShoot(limited(t), unique(project), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shoot.Unmanage(); err != nil {
			t.Error(err)
		}
	})
	return shoot
}

// configure writes the ConfigMap of a project.
func configure(t *testing.T, shoot *gardener.Shoot, data map[string]string) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: shoot.ProjectNamespace(), Name: "flux-config"}, Data: data}
	err := world.InGarden.Create(limited(t), cm)
	if client.IgnoreAlreadyExists(err) != nil {
		t.Fatal(err)
	}
	if err != nil {
		if err := world.InGarden.Update(limited(t), cm); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ready waits as gardenlet does, and returns the Extension.
func ready(t *testing.T, shoot *gardener.Shoot) *unstructured.Unstructured {
	t.Helper()
	seen, err := shoot.Ready(limited(t))
	if err != nil {
		t.Fatalf("%v\nthe Extension is %v", err, seen.Object["status"])
	}
	return seen
}

// nowhere is a kubeconfig of a cluster that does not answer.
func nowhere(t *testing.T) string {
	t.Helper()
	address, err := landscape.FreeAddress()
	must(t, err)
	file := filepath.Join(t.TempDir(), "nowhere.kubeconfig")
	text := "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], " +
		"clusters: [{name: a, cluster: {server: 'https://" + address + "'}}], users: [{name: a, user: {token: t}}]}"
	must(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}
