// Package cli tests the program landscaper-cli against a real API server. The
// tests play the controllers: they write the status that a controller would.
package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/lab"
)

var (
	// running is the lab, resource its cluster with our API, empty one without.
	running         *lab.Lab
	resource, empty *lab.Cluster
	// cluster is a client for the cluster resource.
	cluster client.WithWatch
	// program is the built program.
	program string
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var err error
	if program, err = find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	running, err = lab.Start(ctx, lab.Options{Clusters: []string{"resource", "empty"}})
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the lab:", err)
		return 1
	}
	defer func() {
		if err := running.Down(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "end the lab:", err)
		}
	}()
	resource, empty = running.Clusters["resource"], running.Clusters["empty"]
	if err := prepare(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// find returns the program that "make build" has built.
func find() (string, error) {
	labProgram, err := lab.Program()
	if err != nil {
		return "", err
	}
	program := filepath.Join(filepath.Dir(labProgram), "landscaper-cli")
	if _, err := os.Stat(program); err != nil {
		return "", fmt.Errorf("%w: build it with \"make build\"", err)
	}
	return program, nil
}

func prepare(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", resource.Kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1
	scheme := install.Scheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return err
	}
	cluster, err = client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := install.Run(ctx, cluster, install.Options{SkipPolicies: true}, &out); err != nil {
		return fmt.Errorf("%w\n%s", err, out.String())
	}
	return nil
}

// newNamespace makes a namespace for one test.
func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "cli-"}}
	if err := cluster.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return namespace.Name
}

// outcome is what a command left behind.
type outcome struct {
	code     int
	out, err string
}

// cli runs the program to its end.
func cli(t *testing.T, kubeconfig string, args ...string) outcome {
	t.Helper()
	return begin(t, kubeconfig, args...).end(t)
}

// process is a running command.
type process struct {
	command *exec.Cmd
	out     *lines
	err     *lines
}

// begin starts the program, without the environment of the one who runs the test.
func begin(t *testing.T, kubeconfig string, args ...string) *process {
	t.Helper()
	p := &process{command: exec.CommandContext(t.Context(), program, args...), out: newLines(), err: newLines()}
	p.command.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir()}
	p.command.Stdout, p.command.Stderr = p.out, p.err
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// end waits for the end of the program. The deadline of the test ends a hanging one.
func (p *process) end(t *testing.T) outcome {
	t.Helper()
	result := outcome{}
	if err := p.command.Wait(); err != nil {
		exit, ok := err.(*exec.ExitError) //nolint:errorlint // Wait documents this type
		if !ok {
			t.Fatal(err)
		}
		result.code = exit.ExitCode()
	}
	result.out, result.err = p.out.String(), p.err.String()
	return result
}
