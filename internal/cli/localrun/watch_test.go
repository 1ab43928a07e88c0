package localrun

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/local"
	"go.landscaper.dev/internal/local/folder"
)

func TestMain(m *testing.M) {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// limit is generous: each wait is for an event.
const limit = time.Minute

// deploying is an Installation that deploys a ConfigMap of its name with a text, to a cluster of its own.
func deploying(name, text string) string {
	return `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Installation
metadata: {name: ` + name + `}
spec:
  imports: {targets: [{name: cluster, target: ` + name + `}]}
  blueprint:
    inline:
      filesystem:
        blueprint.yaml: |
          apiVersion: landscaper.gardener.cloud/v1alpha1
          kind: Blueprint
          imports: [{name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}]
          deployExecutions: [{name: d, type: GoTemplate, file: d.yaml}]
        d.yaml: |
          deployItems:
          - name: item
            type: landscaper.gardener.cloud/kubernetes-manifest
            target: {import: cluster}
            config:
              apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
              kind: ProviderConfiguration
              updateStrategy: update
              manifests:
              - policy: manage
                manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: ` + name + `, namespace: shop}, data: {text: ` + text + `}}
`
}

// put writes a file of a folder.
func put(t *testing.T, directory, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// screen records what a command prints while it runs.
type screen struct {
	mutex sync.Mutex
	text  bytes.Buffer
	// news is closed, and replaced, with each text.
	news chan struct{}
}

func newScreen() *screen { return &screen{news: make(chan struct{})} }

func (s *screen) Write(text []byte) (int, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	close(s.news)
	s.news = make(chan struct{})
	return s.text.Write(text)
}

func (s *screen) read() (string, <-chan struct{}) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.text.String(), s.news
}

// shows waits until a text was printed.
func (s *screen) shows(t *testing.T, wanted string) {
	t.Helper()
	late := time.After(limit)
	for {
		text, news := s.read()
		if strings.Contains(text, wanted) {
			return
		}
		select {
		case <-news:
		case <-late:
			t.Fatalf("%q was not printed: %s", wanted, text)
		}
	}
}

// watched brings up a folder that is watched, without a picture of it.
func watched(t *testing.T, directory string) (*watcher, *screen) {
	t.Helper()
	read := func() (*folder.Content, error) { return folder.Read(directory, folder.Options{}) }
	before := fingerprint(directory)
	content, err := read()
	if err != nil {
		t.Fatal(err)
	}
	landscape, err := local.Start(t.Context(), local.Options{Objects: content.Objects, Changing: true, Log: local.Discard()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(landscape.Close)
	errs := newScreen()
	w := &watcher{read: read, directory: directory, landscape: landscape, taken: before, errors: errs}
	var following sync.WaitGroup
	ctx, end := context.WithCancel(t.Context())
	following.Go(func() { w.follow(ctx) })
	t.Cleanup(func() { end(); following.Wait() })
	return w, errs
}

// text is that of the ConfigMap of an Installation; empty without one.
func (w *watcher) text(name string) string {
	for _, cluster := range w.landscape.Clusters() {
		if found := cluster.Server.Find(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, types.NamespacedName{Namespace: "shop", Name: name}); found != nil && cluster.Name == name {
			text, _, _ := unstructured.NestedString(found.Object, "data", "text")
			return text
		}
	}
	return ""
}

// deployed waits until the ConfigMap of an Installation has a text, and all jobs have ended; an empty text
// stands for none. What is on the cluster has come there before the resource cluster says so.
func (w *watcher) deployed(t *testing.T, name, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	for {
		news := w.landscape.Resource.News()
		if w.text(name) == text && w.landscape.Wait(ctx) == nil {
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			t.Fatalf("ConfigMap %s has %q, want %q: %v, %v, %s", name, w.text(name), text, w.landscape.Roots(), w.landscape.Waits(), w.wrong())
		}
	}
}

// TestChanges: what changes in a folder is deployed, what is taken out of it is deleted, and a change that
// is wrong leaves all as it was, until it is mended.
func TestChanges(t *testing.T) {
	directory := t.TempDir()
	put(t, directory, "a.yaml", deploying("a", "one"))
	w, errs := watched(t, directory)
	w.deployed(t, "a", "one")
	put(t, directory, "a.yaml", deploying("a", "two"))
	w.deployed(t, "a", "two")
	put(t, directory, "b.yaml", deploying("b", "one"))
	w.deployed(t, "b", "one")

	put(t, directory, "a.yaml", "kind: [")
	errs.shows(t, "The change is not taken over: a.yaml")
	w.deployed(t, "a", "two")
	if !strings.Contains(w.wrong(), "a.yaml") {
		t.Errorf("a picture shows %q", w.wrong())
	}
	put(t, directory, "a.yaml", deploying("a", "three"))
	w.deployed(t, "a", "three")
	if w.wrong() != "" {
		t.Errorf("a picture still shows %q", w.wrong())
	}

	if err := os.Remove(filepath.Join(directory, "b.yaml")); err != nil {
		t.Fatal(err)
	}
	w.deployed(t, "b", "")
	late := time.After(limit)
	for {
		news := w.landscape.Resource.News()
		if len(w.landscape.Roots()) == 1 {
			return
		}
		select {
		case <-news:
		case <-late:
			t.Fatalf("Installation b stays: %v, %v", w.landscape.Roots(), w.landscape.Waits())
		}
	}
}

// TestWatch: the command goes on after a change that is broken, says why, and deploys the next one. It ends
// when it is interrupted. A terminal has the error in the picture, which would draw over other lines.
func TestWatch(t *testing.T) {
	for _, test := range []struct {
		reason      string
		columns     int
		first, then string
		inPicture   bool
	}{
		{reason: "lines", first: "Installation default/a: Succeeded", then: "Installation default/b: Succeeded"},
		{reason: "a terminal", columns: 80, first: "[Succeeded] Installation default/a", then: "[Succeeded] Installation default/b", inPicture: true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			directory := t.TempDir()
			put(t, directory, "a.yaml", deploying("a", "one"))
			out, errs := newScreen(), newScreen()
			streams := (&terminaltest.Console{Columns: test.columns}).Streams()
			streams.Out, streams.Err = out, errs
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			ended := make(chan error, 1)
			command := NewCommand(streams)
			command.SetArgs([]string{"run", directory, "--watch", "--no-color", "--ascii"})
			go func() { ended <- command.ExecuteContext(ctx) }()
			out.shows(t, test.first)
			put(t, directory, "b.yaml", "kind: [")
			said := errs
			if test.inPicture {
				said = out
			}
			said.shows(t, "The change is not taken over: b.yaml")
			put(t, directory, "b.yaml", deploying("b", "one"))
			out.shows(t, test.then)
			interrupt()
			select {
			case err := <-ended:
				if terminal.ExitCode(err, true) != terminal.ExitInterrupted {
					t.Errorf("it ended with %v", err)
				}
			case <-time.After(limit):
				t.Error("it does not end")
			}
		})
	}
}
