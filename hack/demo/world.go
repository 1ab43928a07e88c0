package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"go.landscaper.dev/hack/story"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/showcase"
)

// world is everything that the demo has started, and the story that it tells.
type world struct {
	*story.Story

	streams terminal.Streams
	lab     *lab.Lab
	server  *landscape.Server
	console *landscape.Console
	stage   *showcase.Stage
	// files is the directory of the working copy.
	files string
}

// open starts everything that the example needs.
func (w *world) open(ctx context.Context, one bool) error {
	clusters := []string{"resource", "first", "second"}
	if one {
		clusters = clusters[:2]
	}
	name := fmt.Sprintf("Starting %d clusters, Flux, Git and a registry", len(clusters))
	err := w.Step(name, func(progress io.Writer) (err error) {
		if err := showcase.BuildClients(progress); err != nil {
			return err
		}
		w.lab, err = lab.Start(ctx, lab.Options{Clusters: clusters, With: []string{"flux=first", "git", "registry"}, Lean: true, Progress: progress})
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Step("Installing Landscaper, starting its server", func(io.Writer) error { return w.startServer(ctx) }); err != nil {
		return err
	}
	if err := w.Step("Opening the console", func(io.Writer) error { return w.openConsole() }); err != nil {
		return err
	}
	w.Address("Watch the example in a browser. This link is for the first browser that opens it:", w.console.Link)
	return w.Step("Publishing the example's files in Git", func(io.Writer) error {
		return w.prepare(ctx, clusters[len(clusters)-1])
	})
}

func (w *world) startServer(ctx context.Context) error {
	resource := w.lab.Clusters["resource"].Kubeconfig
	admin, err := landscape.Connect(resource)
	if err != nil {
		return err
	}
	if err := install.Run(ctx, admin, install.Options{}, io.Discard); err != nil {
		return err
	}
	w.server, err = landscape.Start(ctx, landscape.Options{Kubeconfig: resource, Quiet: true, Group: true, Log: w.log()})
	return err
}

// openConsole starts the console of the resource cluster.
func (w *world) openConsole() error {
	log, err := os.Create(filepath.Join(w.lab.Directory, "console.log"))
	if err != nil {
		return fmt.Errorf("make the log of the console: %w", err)
	}
	defer log.Close() //nolint:errcheck // the process writes it, not this one
	w.console, err = landscape.StartConsole(landscape.ConsoleOptions{Kubeconfig: w.lab.Clusters["resource"].Kubeconfig, Errors: log})
	return err
}

// log is the file with what the server says.
func (w *world) log() string { return filepath.Join(w.lab.Directory, "landscaper.log") }

// prepare makes the repository and the namespaces.
func (w *world) prepare(ctx context.Context, workload string) error {
	created, err := w.lab.CreateRepository(ctx, "landscaper")
	if err != nil {
		return err
	}
	if w.files, err = os.MkdirTemp("", "landscaper-demo-"); err != nil {
		return err
	}
	repository, err := showcase.NewRepository(ctx, created.HTTP, w.files)
	if err != nil {
		return err
	}
	w.stage = &showcase.Stage{
		Resource: w.lab.Clusters["resource"].Kubeconfig, Flux: w.lab.Clusters["first"].Kubeconfig, Workload: w.lab.Clusters[workload].Kubeconfig,
		Registry: w.lab.Registry.URL + "/examples", Repository: repository,
	}
	return w.stage.Prepare(ctx, "cu-dataflow")
}

// look is where to look further while the clusters run.
func (w *world) look() (story.Look, error) {
	root, err := lab.Root()
	if err != nil {
		return story.Look{}, err
	}
	look := story.Look{Directory: root, Kubeconfig: w.stage.Resource, Console: w.console.Link}
	kubectl, err := showcase.Client("kubectl")
	if err != nil {
		return story.Look{}, err
	}
	if found, err := exec.LookPath("kubectl"); err == nil && found == kubectl {
		kubectl = "kubectl"
	}
	kubectl = look.Path(kubectl)
	look.Commands = []story.Command{
		{For: "the tree, with Targets and blueprints", Text: "bin/landscaper-cli inst inspect -n cu-example -o wide"},
		{For: "which value comes from where", Text: "bin/landscaper-cli inst graph -n cu-example"},
		{For: "what the last job did, step by step", Text: "bin/landscaper-cli inst logs dataflow-root -n cu-example"},
		{For: "Landscaper's objects", Text: kubectl + " get installations,executions,deployitems,dataobjects,targets -n cu-example"},
		{For: "the objects of Flux on the first cluster", Text: kubectl + " --kubeconfig " + look.Path(w.stage.Flux) + " get kustomizations -n flux-system -o yaml"},
		{For: "the workload on the second cluster", Text: kubectl + " --kubeconfig " + look.Path(w.stage.Workload) + " get all,configmaps -n cu-dataflow"},
		{For: "what the server says", Text: "tail -f " + look.Path(w.log())},
	}
	return look, nil
}

// keepLogs copies the logs out of the lab, which is removed with all its files, and adds to a
// failure where they are.
func (w *world) keepLogs(failure error) error {
	if w.lab == nil || w.lab.Directory == "" {
		return failure
	}
	root, err := lab.Root()
	if err != nil {
		return errors.Join(failure, err)
	}
	kept := filepath.Join(root, "out", "demo", "logs")
	if err := errors.Join(os.RemoveAll(kept), os.CopyFS(kept, os.DirFS(filepath.Join(w.lab.Directory, "logs")))); err != nil {
		return errors.Join(failure, fmt.Errorf("keep the logs: %w", err))
	}
	said, err := os.ReadFile(w.log())
	if err == nil {
		err = os.WriteFile(filepath.Join(kept, "landscaper.log"), said, 0o600)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return errors.Join(failure, fmt.Errorf("keep the log of the server: %w", err))
	}
	return fmt.Errorf("%w\nlogs of the server and of the clusters: %s", failure, kept)
}

// close ends everything.
func (w *world) close() error {
	if w.lab == nil || w.lab.Directory == "" {
		return nil
	}
	return w.Step("Ending the clusters", func(io.Writer) error {
		var failures []error
		if w.console != nil {
			failures = append(failures, w.console.Stop())
		}
		if w.server != nil {
			failures = append(failures, w.server.Stop())
		}
		failures = append(failures, w.lab.Down(context.Background()))
		if w.files != "" {
			failures = append(failures, os.RemoveAll(w.files))
		}
		return errors.Join(failures...)
	})
}
