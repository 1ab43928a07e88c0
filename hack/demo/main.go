// Command demo shows Landscaper at work: it starts three clusters, Flux, a Git server and
// a registry, runs the server, brings up the data flow example, shows and checks what it
// has brought up, and cleans up. "make demo" runs it.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"go.landscaper.dev/test/showcase"
)

func main() {
	one := flag.Bool("one-target", false, "let Flux deploy to the cluster that it runs on, instead of a second one")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *one); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, one bool) (err error) {
	world, err := open(ctx, one)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, world.close()) }()
	if err := bringUp(ctx, world.stage); err != nil {
		return err
	}
	if err := check(ctx, world.stage); err != nil {
		return err
	}
	return end(ctx, world)
}

// bringUp publishes the example and deploys it.
func bringUp(ctx context.Context, stage *showcase.Stage) error {
	say("Publishing the example's blueprints in the registry (its files are in the Git repository)")
	if err := stage.Script(ctx, "dataflow", "push-component.sh", os.Stdout); err != nil {
		return err
	}
	say("Creating the Installations")
	began := time.Now()
	if err := stage.Script(ctx, "dataflow", "deploy-k8s-resources.sh", os.Stdout); err != nil {
		return err
	}
	if err := stage.Wait(ctx, os.Stdout, "dataflow-secret", "dataflow-gitrepository", "dataflow-root"); err != nil {
		return err
	}
	fmt.Printf("  succeeded after %.1f s\n", time.Since(began).Seconds())
	return nil
}

// check shows what is on the clusters, and compares it with what should be there.
func check(ctx context.Context, stage *showcase.Stage) error {
	say("What was brought up: the Installations, the objects of Flux, the workload on the second cluster")
	shown, err := stage.ShowDataflow(ctx)
	if err != nil {
		return err
	}
	shown.Print(os.Stdout)
	if differences := showcase.CompareDataflow(shown); len(differences) > 0 {
		return fmt.Errorf("the example has brought up something else than expected:\n%s", strings.Join(differences, "\n"))
	}
	if err := stage.CheckToken(ctx); err != nil {
		return err
	}
	fmt.Println("The token in ConfigMap test-configmap is that of Secret test-secret: it has travelled through Landscaper.")
	return nil
}

// end offers to clean up, and says how to look further until then.
func end(ctx context.Context, world *world) error {
	if term.IsTerminal(int(os.Stdin.Fd())) {
		say("Look further, in another terminal")
		fmt.Printf(`  export KUBECONFIG=%s
  kubectl get installations,executions,deployitems -n cu-example
  bin/landscaper-cli installations inspect -n cu-example -o wide
  kubectl --kubeconfig %s get kustomizations -n flux-system -o yaml
  kubectl --kubeconfig %s get all,configmaps -n cu-dataflow
  tail -f %s
`, world.stage.Resource, world.stage.Flux, world.stage.Workload, filepath.Join(world.lab.Directory, "landscaper.log"))
		say("Press Enter to delete the Installations and to end")
		if err := enter(ctx); err != nil {
			return err
		}
	}
	say("Deleting the Installations, and with them what they have brought up")
	began := time.Now()
	for _, script := range []string{"delete-installation.sh", "delete-other-k8s-resources.sh"} {
		if err := world.stage.Script(ctx, "dataflow", script, os.Stdout); err != nil {
			return err
		}
	}
	fmt.Printf("  deleted after %.1f s\n", time.Since(began).Seconds())
	return nil
}

// enter returns when the user presses Enter, or interrupts the demo.
func enter(ctx context.Context) error {
	pressed := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		close(pressed)
	}()
	select {
	case <-pressed:
		return nil
	case <-ctx.Done():
		return errors.New("interrupted")
	}
}

func say(what string) { fmt.Printf("\n── %s\n", what) }
