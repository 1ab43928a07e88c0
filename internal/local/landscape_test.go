package local

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/local/folder"
	"go.landscaper.dev/internal/server"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// start brings up a folder.
func start(t *testing.T, directory string, change func(*Options)) *Landscape {
	t.Helper()
	content, err := folder.Read(directory, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Objects: content.Objects, Definitions: content.Definitions, Components: content.Components, Behaviour: content.Rules.Behaviour, Log: Discard()}
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
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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
	t.Fatalf("not ended: %v, %v", phases, l.Problems())
	return nil
}

// TestDataflow brings up the example of the data flow: the token of the second cluster gets into the
// consumer.
func TestDataflow(t *testing.T) {
	l := start(t, "../../examples/kustomize/dataflow", nil)
	phases := ended(t, l)
	if len(phases) != 5 || l.Problems() != nil {
		t.Fatal(phases, l.Problems())
	}
	for name, phase := range phases {
		if phase != "Succeeded" {
			t.Errorf("%s: %s", name, phase)
		}
	}
	objects := map[string]string{}
	for _, cluster := range l.Clusters() {
		for _, object := range cluster.Objects() {
			is := unstructured.Unstructured{Object: object}
			raw, _ := is.MarshalJSON()
			objects[cluster.Name+" "+is.GetKind()+" "+is.GetName()] = string(raw)
		}
	}
	for name, has := range map[string]string{
		"my-cluster Kustomization dataflow-tokenconsumer": "token-of-test-service-account",
		"my-cluster Kustomization dataflow-tokenprovider": `"suspend":true`,
		"my-cluster GitRepository landscaper":             "git.example.org",
		"my-cluster-2 Secret test-secret":                 `"token":"`,
		"my-cluster-2 ConfigMap test-configmap":           "dummy",
	} {
		if !strings.Contains(objects[name], has) {
			t.Errorf("%s has no %q: %s", name, has, objects[name])
		}
	}
}

// write writes the files of a folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	directory := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return directory
}

// installation is one with an inline blueprint, whose template is given.
func installation(template string) string {
	return `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: a}
spec:
  blueprint:
    inline:
      filesystem:
        blueprint.yaml: |
          apiVersion: landscaper.gardener.cloud/v1alpha1
          kind: Blueprint
          deployExecutions: [{name: d, type: GoTemplate, file: d.yaml}]
        d.yaml: |
          ` + template + "\n"
}

// TestChangeAfterError: what a change has not written is written by the next one, even if that has nothing
// else that is new.
func TestChangeAfterError(t *testing.T) {
	config := func(value string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c", "namespace": "default"}, "data": map[string]any{"a": value},
		}}
	}
	broken := newObject("Context", "default", "a")
	broken.Object["registryPullSecrets"] = "not a list"
	l, err := Start(t.Context(), Options{Objects: []*unstructured.Unstructured{config("one")}, Log: Discard()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	if err := l.Change([]*unstructured.Unstructured{broken, config("two")}, nil); err == nil {
		t.Error("a Context that is wrong is taken over")
	}
	if err := l.Change([]*unstructured.Unstructured{config("two")}, nil); err != nil {
		t.Fatal(err)
	}
	live := l.Resource.Find(config("").GroupVersionKind(), keyOf(config("")))
	if have, _, _ := unstructured.NestedString(live.Object, "data", "a"); have != "two" {
		t.Errorf("the ConfigMap still has %q", have)
	}
}

// TestNothingIsContacted: neither a registry nor its name server sees a request.
func TestNothingIsContacted(t *testing.T) {
	var asked atomic.Int32
	registry := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer registry.Close()
	reference := func(base string) string {
		return `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: a}
spec:
  componentDescriptor: {ref: {componentName: example.org/a, version: 1.0.0, repositoryContext: {type: ociRegistry, baseUrl: "` + base + `"}}}
  blueprint: {ref: {resourceName: blueprint}}
`
	}
	for _, base := range []string{registry.URL, "oci.example.org/path"} {
		l := start(t, write(t, map[string]string{"a.yaml": reference(base)}), nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := l.WaitFor(ctx, "nothing leaves this machine"); err != nil {
			t.Errorf("%s: %v, %v", base, err, l.Roots())
		}
		cancel()
	}
	if asked.Load() != 0 {
		t.Errorf("%d requests", asked.Load())
	}
}

// TestHostileTemplates: what loops, or writes without an end, fails the Installation, and nothing else.
func TestHostileTemplates(t *testing.T) {
	for reason, template := range map[string]string{
		"a loop":         `{{ range $i := until 100000000 }}{{ range $j := until 100000000 }}{{ end }}{{ end }}`,
		"a large object": `{{ $x := repeat 3000000 "x" }}{deployItems: [{name: a, type: landscaper.gardener.cloud/mock, config: {apiVersion: v1, kind: x, text: {{ $x }}}}]}`,
	} {
		t.Run(reason, func(t *testing.T) {
			l := start(t, write(t, map[string]string{"a.yaml": installation(template)}), nil)
			if phase := ended(t, l)["a"]; !strings.HasPrefix(phase, "Failed") {
				t.Error(phase)
			}
		})
	}
}
