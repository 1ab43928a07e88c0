package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.landscaper.dev/internal/server/install"
	"go.landscaper.dev/test/lab"
	"go.landscaper.dev/test/landscape"
	"go.landscaper.dev/test/showcase"
)

// world is everything that the demo has started.
type world struct {
	lab    *lab.Lab
	server *landscape.Server
	stage  *showcase.Stage
	// files is the directory of the working copy.
	files string
}

// open starts everything that the example needs.
func open(ctx context.Context, one bool) (w *world, err error) {
	w = &world{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	clusters := []string{"resource", "first", "second"}
	if one {
		clusters = clusters[:2]
	}
	say(fmt.Sprintf("Starting %d clusters %v, Flux on the first one, a Git server and a registry", len(clusters), clusters))
	began := time.Now()
	started, err := lab.Start(ctx, lab.Options{Clusters: clusters, With: []string{"flux=first", "git", "registry"}})
	if err != nil {
		return w, err
	}
	w.lab = started
	fmt.Printf("  ready after %.1f s\n", time.Since(began).Seconds())

	say("Installing Landscaper's kinds on the resource cluster, starting its server")
	resource := started.Clusters["resource"].Kubeconfig
	admin, err := landscape.Connect(resource)
	if err != nil {
		return w, err
	}
	if err := install.Run(ctx, admin, install.Options{}, io.Discard); err != nil {
		return w, err
	}
	w.server, err = landscape.Start(ctx, landscape.Options{
		Kubeconfig: resource, Quiet: true, Group: true, Log: filepath.Join(started.Directory, "landscaper.log"),
	})
	if err != nil {
		return w, err
	}
	return w, w.prepare(ctx, clusters[len(clusters)-1])
}

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

// close ends everything.
func (w *world) close() error {
	say("Ending the clusters")
	var failures []error
	if w.server != nil {
		failures = append(failures, w.server.Stop())
	}
	if w.lab != nil {
		failures = append(failures, w.lab.Down(context.Background()))
	}
	if w.files != "" {
		failures = append(failures, os.RemoveAll(w.files))
	}
	return errors.Join(failures...)
}
