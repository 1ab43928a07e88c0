// Command demo shows Landscaper at work: it starts two clusters, runs the server,
// brings up an example, and says how to look further. "make demo" runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/server"
	"go.landscaper.dev/test/lab"
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
	stopServer, err := startServer(ctx, resource.Kubeconfig, filepath.Join(started.Directory, "landscaper.log"))
	if err != nil {
		return err
	}
	defer stopServer()

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

// startServer runs the server in the background and returns when it answers.
func startServer(ctx context.Context, kubeconfig, logFile string) (func(), error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	health := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	log, err := os.Create(logFile)
	if err != nil {
		return nil, err
	}
	run := exec.Command("bin/landscaper", "run", "--kubeconfig", kubeconfig, "--metrics-address", "0", "--health-address", health)
	run.Stdout, run.Stderr = log, log
	// A group of its own: Ctrl-C in the terminal is for us, and we end the server.
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := run.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	stop := func() {
		_ = run.Process.Signal(syscall.SIGTERM)
		_ = run.Wait()
		_ = log.Close()
	}
	if err := server.WaitReady(ctx, health); err != nil {
		stop()
		content, _ := os.ReadFile(logFile)
		return nil, fmt.Errorf("the server does not get ready: %w\n%s", err, content)
	}
	return stop, nil
}

// apply creates the Target and the Installation.
func apply(ctx context.Context, resource, target *lab.Cluster) error {
	config, err := clientcmd.BuildConfigFromFlags("", resource.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	cluster, err := client.New(config, client.Options{Scheme: server.Scheme()})
	if err != nil {
		return fmt.Errorf("connect to the resource cluster: %w", err)
	}
	kubeconfig, err := os.ReadFile(target.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read the target's kubeconfig: %w", err)
	}
	access, err := yaml.Marshal(map[string]string{"kubeconfig": string(kubeconfig)})
	if err != nil {
		return fmt.Errorf("encode the Target: %w", err)
	}
	asJSON, err := yaml.YAMLToJSON(access)
	if err != nil {
		return fmt.Errorf("encode the Target: %w", err)
	}
	made := &v1alpha1.Target{Spec: v1alpha1.TargetSpec{Type: v1alpha1.KubernetesClusterTargetType, Configuration: v1alpha1.NewAnyJSONPointer(asJSON)}}
	made.Namespace, made.Name = namespace, "first-cluster"
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
