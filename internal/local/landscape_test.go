package local

import (
	"context"
	"os"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/local/folder"
	"go.landscaper.dev/internal/server"
)

// start brings up a folder.
func start(t *testing.T, directory string, change func(*Options)) *Landscape {
	t.Helper()
	content, err := folder.Read(directory, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Objects: content.Objects, Definitions: content.Definitions, Components: content.Components, Behaviour: content.Rules.Behaviour, Log: Discard()}
	if os.Getenv("LOCAL_LOG") != "" {
		options.Log = Log(os.Stderr)
	}
	if change != nil {
		change(&options)
	}
	landscape, err := Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(landscape.Close)
	return landscape
}

// ended waits until all Installations have ended, and returns their phases.
func ended(t *testing.T, l *Landscape) map[string]string {
	t.Helper()
	reader, err := client.NewWithWatch(l.Config(), client.Options{Scheme: server.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	watch, err := reader.Watch(ctx, &v1alpha1.InstallationList{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	phases := map[string]string{}
	for range watch.ResultChan() {
		list := &v1alpha1.InstallationList{}
		if err := reader.List(ctx, list); err != nil {
			t.Fatal(err)
		}
		clear(phases)
		done := len(list.Items) > 0
		for _, inst := range list.Items {
			phases[inst.Name] = string(inst.Status.InstallationPhase)
			done = done && inst.Status.JobID != "" && inst.Status.JobID == inst.Status.JobIDFinished
			if inst.Status.LastError != nil && inst.Status.InstallationPhase == "Failed" {
				phases[inst.Name] += ": " + inst.Status.LastError.Message
			}
		}
		if done {
			return phases
		}
	}
	for _, o := range l.Resource.Objects() {
		if o.GetKind() == "DeployItem" {
			raw, _ := o.MarshalJSON()
			t.Log(string(raw))
		}
	}
	for _, cluster := range l.Clusters() {
		for _, o := range cluster.Server.Objects() {
			raw, _ := o.MarshalJSON()
			t.Log(cluster.Name, string(raw))
		}
	}
	t.Fatalf("not ended: %v, %v", phases, l.Problems())
	return nil
}

func TestDataflow(t *testing.T) {
	began := time.Now()
	l := start(t, "../../examples/kustomize/dataflow", nil)
	t.Log(ended(t, l), time.Since(began), l.Notes, l.Problems())
	for _, cluster := range l.Clusters() {
		for _, o := range cluster.Server.Objects() {
			t.Log(cluster.Name, o.GetKind(), o.GetNamespace(), o.GetName())
		}
	}
}
