package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"go.landscaper.dev/hack/dev/rebuild"
	"go.landscaper.dev/hack/story"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
)

const (
	// source is the package of the server.
	source = "./cmd/landscaper"
	// example has the Installations of the landscape, which deploy to the Target.
	example = "hack/dev/landscape"
	target  = "target"
)

// world is everything that the loop has started. It is the program of the loop, and reports to the
// user.
type world struct {
	*story.Story

	streams terminal.Streams
	root    string
	lab     *lab.Lab
	server  *landscape.Server
}

// program is where the server is built. It is not that of "make build", which has information for
// debuggers and takes longer to link.
func (w *world) program() string { return filepath.Join(w.root, "bin", "landscaper-dev") }

// kubeconfig is that of the cluster with the Installations.
func (w *world) kubeconfig() string { return w.lab.Clusters["resource"].Kubeconfig }

// log is the file with what the server says.
func (w *world) log() string { return filepath.Join(w.lab.Directory, "landscaper.log") }

// open starts the clusters and the server, and brings up the landscape.
func (w *world) open(ctx context.Context) (err error) {
	if w.root, err = lab.Root(); err != nil {
		return err
	}
	for _, step := range []struct {
		name string
		do   func(progress io.Writer) error
	}{
		{"Building the server", func(io.Writer) error { _, err := w.Build(ctx); return err }},
		{"Starting 2 clusters", func(progress io.Writer) (err error) {
			w.lab, err = lab.Start(ctx, lab.Options{Clusters: []string{"resource", target}, Progress: progress})
			return err
		}},
		{"Installing Landscaper, starting its server", func(io.Writer) error { return w.start(ctx) }},
		{"Bringing up the landscape of " + example, func(progress io.Writer) error { return w.bringUp(ctx, progress) }},
	} {
		if err := w.Step(step.name, step.do); err != nil {
			return err
		}
	}
	return nil
}

// Build builds the server.
func (w *world) Build(ctx context.Context) (time.Duration, error) {
	command := exec.CommandContext(ctx, "go", "build", "-ldflags=-w", "-o", w.program(), source)
	command.Dir = w.root
	output, err := command.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("go build: %w\n%s", err, strings.TrimSpace(string(output)))
	}
	return command.ProcessState.UserTime() + command.ProcessState.SystemTime(), nil
}

// Sources are what the server is built from.
func (w *world) Sources(ctx context.Context) (rebuild.Sources, error) {
	return rebuild.List(ctx, w.root, source)
}

// install lets the new program install its kinds: its sources may have changed.
func (w *world) install(ctx context.Context) error {
	output, err := exec.CommandContext(ctx, w.program(), "install", "--kubeconfig", w.kubeconfig()).CombinedOutput()
	if err != nil {
		return fmt.Errorf("install the kinds: %w: %s", err, strings.TrimSpace(string(output)))
	}
	return nil
}

func (w *world) start(ctx context.Context) (err error) {
	if err := w.install(ctx); err != nil {
		return err
	}
	w.server, err = landscape.Start(ctx, landscape.Options{Program: w.program(), Kubeconfig: w.kubeconfig(), Group: true, Log: w.log()})
	return err
}

// Restart ends the server as a cluster would, and starts the one that was built last. The server runs
// on if the new one cannot install its kinds.
func (w *world) Restart(ctx context.Context) error {
	if err := w.install(ctx); err != nil {
		return err
	}
	if err := w.server.Stop(); err != nil {
		return err
	}
	return w.server.Restart(ctx)
}

// Ended is closed when the server has ended.
func (w *world) Ended() <-chan struct{} { return w.server.Ended() }

// Failed shows a failure of the loop, and whether the server runs.
func (w *world) Failed(err error) {
	var step *story.Failure
	if errors.As(err, &step) {
		err = step.Err // the name of the step has been shown
	}
	state := "The server of before is running on."
	select {
	case <-w.Ended():
		state = "The server is not running. Its log: " + w.log()
	default:
	}
	w.Say("\n" + terminal.PrintableLines(err.Error()) + "\n\n" + state + "\n")
}

// bringUp applies the Target and the Installations of the landscape, and waits for them.
func (w *world) bringUp(ctx context.Context, progress io.Writer) error {
	access, err := os.ReadFile(w.lab.Clusters[target].Kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig of the target cluster: %w", err)
	}
	object, err := landscape.Target("default", target, string(access))
	if err != nil {
		return err
	}
	cluster, err := landscape.Connect(w.kubeconfig())
	if err != nil {
		return err
	}
	if err := cluster.Create(ctx, object); err != nil {
		return fmt.Errorf("create the Target: %w", err)
	}
	return w.cli(ctx, progress, "inst", "apply", "-f", filepath.Join(w.root, example), "--wait")
}

// cli runs the command line on the cluster with the Installations.
func (w *world) cli(ctx context.Context, output io.Writer, args ...string) error {
	program, err := landscape.Program("landscaper-cli")
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, program, append(args, "--kubeconfig", w.kubeconfig())...)
	command.Stdout, command.Stderr = output, output
	if err := command.Run(); err != nil {
		return fmt.Errorf("landscaper-cli %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// introduce shows the landscape, and what to try with it.
func (w *world) introduce(ctx context.Context) error {
	w.Say("")
	if err := w.cli(ctx, w.streams.Out, "inst", "inspect"); err != nil {
		return err
	}
	look := story.Look{Directory: w.root, Kubeconfig: w.kubeconfig()}
	kubectl := "kubectl"
	if _, err := exec.LookPath(kubectl); err != nil {
		kubectl = "$(bin/lab build kubectl)"
	}
	look.Commands = []story.Command{
		{For: "the landscape in a browser, live", Text: "bin/landscaper-cli console"},
		{For: "the trees, live", Text: "bin/landscaper-cli inst inspect --watch"},
		{For: "run the job of an Installation again", Text: "bin/landscaper-cli inst reconcile shop"},
		{For: "another value, and a job with it", Text: "bin/landscaper-cli inst set-import shop replicas=3 && bin/landscaper-cli inst reconcile shop"},
		{For: "what came of it on the target cluster", Text: kubectl + " --kubeconfig " + look.Path(w.lab.Clusters[target].Kubeconfig) + " get configmap web -o yaml"},
		{For: "what the server says", Text: "tail -f " + look.Path(w.log())},
	}
	w.Say("Try, in another terminal:\n")
	w.Look(look)
	return nil
}

// close ends everything.
func (w *world) close() error {
	if w.lab == nil || w.lab.Directory == "" {
		return nil
	}
	return w.Step("Ending the server and the clusters", func(io.Writer) error {
		var failures []error
		if w.server != nil {
			failures = append(failures, w.server.Stop())
		}
		return errors.Join(append(failures, w.lab.Down(context.Background()))...)
	})
}
