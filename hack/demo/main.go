// Command demo shows Landscaper at work: it starts two clusters, runs the server,
// brings up an example, and says how to look further. "make demo" runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

const (
	example   = "examples/first-installation/installation.yaml"
	namespace = "default"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	say("Starting two clusters: resource (Landscaper's objects) and target (what it deploys to)")
	began := time.Now()
	started, err := lab.Start(ctx, lab.Options{Clusters: []string{"resource", "target"}})
	if err != nil {
		return err
	}
	defer func() {
		say("Cleaning up")
		if err := started.Down(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, "demo:", err)
		}
	}()
	resource, target := started.Clusters["resource"], started.Clusters["target"]
	fmt.Printf("  ready after %.1f s\n", time.Since(began).Seconds())

	say("Installing the CRDs and admission policies, starting the server")
	if err := command(ctx, "bin/landscaper", "install", "--kubeconfig", resource.Kubeconfig).Run(); err != nil {
		return fmt.Errorf("install: %w", err)
	}
	server, err := landscape.Start(ctx, landscape.Options{
		Kubeconfig: resource.Kubeconfig, Quiet: true, Group: true, Log: filepath.Join(started.Directory, "landscaper.log"),
	})
	if err != nil {
		return err
	}
	defer func() {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "demo:", err)
		}
	}()

	say("Creating a Target for the cluster, and the Installation of " + example)
	began = time.Now()
	if err := apply(ctx, resource, target); err != nil {
		return err
	}
	wait := command(ctx, "bin/landscaper-cli", "installations", "wait", "first", "-n", namespace, "--for", "succeeded", "--timeout", "2m", "--kubeconfig", resource.Kubeconfig)
	wait.Stdout, wait.Stderr = os.Stdout, os.Stderr
	if err := wait.Run(); err != nil {
		return fmt.Errorf("wait for the Installation: %w", err)
	}
	fmt.Printf("  succeeded after %.1f s\n", time.Since(began).Seconds())

	say("The tree of what was brought up")
	inspect := command(ctx, "bin/landscaper-cli", "installations", "inspect", "-n", namespace, "--kubeconfig", resource.Kubeconfig)
	inspect.Stdout, inspect.Stderr = os.Stdout, os.Stderr
	if err := inspect.Run(); err != nil {
		return fmt.Errorf("inspect: %w", err)
	}
	return look(ctx, started, resource, target)
}

// look says how to look further, and waits for Ctrl-C if a person is there.
func look(ctx context.Context, started *lab.Lab, resource, target *lab.Cluster) error {
	say("Look further, in another terminal")
	fmt.Printf(`  export KUBECONFIG=%s
  kubectl get installations,executions,deployitems
  bin/landscaper-cli installations inspect -n %s -o wide
  kubectl --kubeconfig %s get configmap greeting -o yaml
  tail -f %s
`, resource.Kubeconfig, namespace, target.Kubeconfig, filepath.Join(started.Directory, "landscaper.log"))
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return nil
	}
	say("Press Ctrl-C to end")
	<-ctx.Done()
	fmt.Println()
	return nil
}

// apply creates the Target and the Installation.
func apply(ctx context.Context, resource, target *lab.Cluster) error {
	cluster, err := landscape.Connect(resource.Kubeconfig)
	if err != nil {
		return fmt.Errorf("connect to the resource cluster: %w", err)
	}
	kubeconfig, err := os.ReadFile(target.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read the target's kubeconfig: %w", err)
	}
	made, err := landscape.Target(namespace, "first-cluster", string(kubeconfig))
	if err != nil {
		return err
	}
	if err := cluster.Create(ctx, made); err != nil {
		return fmt.Errorf("create the Target: %w", err)
	}
	content, err := os.ReadFile(example)
	if err != nil {
		return fmt.Errorf("read the example: %w", err)
	}
	inst := &v1alpha1.Installation{}
	if err := yaml.UnmarshalStrict(content, inst); err != nil {
		return fmt.Errorf("decode %s: %w", example, err)
	}
	inst.Namespace = namespace
	if err := cluster.Create(ctx, inst); err != nil {
		return fmt.Errorf("create the Installation: %w", err)
	}
	return nil
}

func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, name, args...)
}

func say(what string) { fmt.Printf("\n── %s\n", what) }
