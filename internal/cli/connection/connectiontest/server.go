// Package connectiontest is for tests of commands that reach a cluster. What a real API
// server does is tested with one, in test/integration; this one refuses, lies and counts.
package connectiontest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
)

// Server holds objects by the paths of the API.
type Server struct {
	// Refusals are answers by method and path, as in "GET /api/v1/namespaces/n/secrets".
	Refusals map[string]metav1.Status

	url     string
	dropped chan struct{}
	mutex   sync.Mutex
	objects map[string]map[string]any
	writes  []string
	gone    []string
	version int
}

// New starts a server with objects, each written in YAML, until the test ends.
func New(t *testing.T, manifests ...string) *Server {
	t.Helper()
	s := &Server{objects: map[string]map[string]any{}, Refusals: map[string]metav1.Status{}, dropped: make(chan struct{})}
	for _, manifest := range manifests {
		object := map[string]any{}
		if err := yaml.Unmarshal([]byte(manifest), &object); err != nil {
			t.Fatal(err)
		}
		s.store(pathOf(object), object)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// Run runs a command line in the namespace default of the server, and returns its exit
// code and what it has printed.
func (s *Server) Run(t *testing.T, c *terminaltest.Console, command func(terminal.Streams) *cobra.Command, args ...string) int {
	t.Helper()
	return s.RunUntil(t.Context(), t, c.Streams(), command, args...)
}

// Kubeconfig writes a kubeconfig that leads to the server, for commands that have no other flags for a
// connection.
func (s *Server) Kubeconfig(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {}}]}`, s.url)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// RunUntil is Run with other streams, and with a context that may end before the test.
func (s *Server) RunUntil(ctx context.Context, t *testing.T, streams terminal.Streams, command func(terminal.Streams) *cobra.Command, args ...string) int {
	t.Helper()
	t.Setenv("KUBECONFIG", "/dev/null")
	return terminal.Run(ctx, command(streams), streams, append(args, "--server", s.url))
}

// Writes are the requests that were to change something, in order: method and path, and
// what follows the question mark where something does not happen in earnest.
func (s *Server) Writes() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.writes)
}

// Object returns an object by its path as JSON; empty if it does not exist.
func (s *Server) Object(path string) string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.objects[path] == nil {
		return ""
	}
	text, err := json.Marshal(s.objects[path])
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Refuse lets requests fail: with 403, say, and the reason Forbidden.
func (s *Server) Refuse(request string, code int, reason metav1.StatusReason, message string) {
	s.Refusals[request] = metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: message,
	}
}

// Gone lets requests end as at a path that the API does not have.
func (s *Server) Gone(request string) { s.gone = append(s.gone, request) }

// Drop removes an object, and lets watches end from then on: who follows it lists again
// and sees that. It may be called once.
func (s *Server) Drop(path string) {
	s.mutex.Lock()
	delete(s.objects, path)
	s.mutex.Unlock()
	close(s.dropped)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(out http.ResponseWriter, request *http.Request) {
	path := request.URL.Path
	if request.URL.Query().Get("watch") == "true" {
		s.watch(out, request)
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if slices.Contains(s.gone, request.Method+" "+path) {
		http.NotFound(out, request)
		return
	}
	if refusal, refused := s.Refusals[request.Method+" "+path]; refused {
		answer(out, int(refusal.Code), refusal)
		return
	}
	if request.Method == http.MethodGet {
		s.read(out, path)
		return
	}
	s.writes = append(s.writes, request.Method+" "+path)
	body, err := io.ReadAll(request.Body)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	s.write(out, request, body)
}

// watch is one in which nothing happens. A list comes first: nothing is sent to begin with.
func (s *Server) watch(out http.ResponseWriter, request *http.Request) {
	if request.URL.Query().Get("sendInitialEvents") == "true" {
		answer(out, http.StatusUnprocessableEntity, metav1.Status{Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid})
		return
	}
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(out).Flush()
	select {
	case <-request.Context().Done():
	case <-s.dropped:
	}
}

func (s *Server) read(out http.ResponseWriter, path string) {
	if object, found := s.objects[path]; found {
		answer(out, http.StatusOK, object)
		return
	}
	at := strings.LastIndex(path, "/")
	if kind, isList := kinds[path[at+1:]]; isList {
		list := map[string]any{"apiVersion": kind.version, "kind": kind.name + "List", "metadata": map[string]any{"resourceVersion": "1"}, "items": s.below(path)}
		answer(out, http.StatusOK, list)
		return
	}
	notFound(out, path)
}

func (s *Server) below(path string) []any {
	items := []any{}
	var names []string
	for name := range s.objects {
		if strings.HasPrefix(name, path+"/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		items = append(items, s.objects[name])
	}
	return items
}

func (s *Server) write(out http.ResponseWriter, request *http.Request, body []byte) {
	path := request.URL.Path
	object, found := s.objects[path]
	applies := request.Header.Get("Content-Type") == string(types.ApplyPatchType)
	switch {
	case !found && !applies:
		notFound(out, path)
		return
	case request.Method == http.MethodDelete:
		delete(s.objects, path)
		answer(out, http.StatusOK, map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Success"})
		return
	}
	change := map[string]any{}
	if err := yaml.Unmarshal(body, &change); err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	if !found {
		object = map[string]any{}
	}
	if before, _ := json.Marshal(object); merge(object, change) || string(before) == "{}" {
		s.store(path, object)
	}
	answer(out, http.StatusOK, object)
}

// store keeps an object under the next version.
func (s *Server) store(path string, object map[string]any) {
	s.version++
	metadata, _ := object["metadata"].(map[string]any)
	metadata["resourceVersion"] = fmt.Sprint(s.version)
	if metadata["uid"] == nil {
		metadata["uid"] = "uid-" + fmt.Sprint(metadata["name"])
	}
	s.objects[path] = object
}

// merge is a merge patch; it tells whether something has changed.
func merge(object, change map[string]any) (changed bool) {
	for name, value := range change {
		below, isMap := value.(map[string]any)
		there, wasMap := object[name].(map[string]any)
		switch {
		case name == "resourceVersion":
		case value == nil:
			changed = changed || object[name] != nil
			delete(object, name)
		case isMap && wasMap:
			changed = merge(there, below) || changed
		default:
			before, _ := json.Marshal(object[name])
			after, _ := json.Marshal(value)
			changed = changed || string(before) != string(after)
			object[name] = value
		}
	}
	return changed
}

type kind struct{ version, name string }

const (
	ours     = "landscaper.gardener.cloud/v1alpha1"
	delivery = "delivery.landscaper.dev/v1alpha1"
)

var kinds = map[string]kind{
	"installations": {ours, "Installation"}, "executions": {ours, "Execution"}, "deployitems": {ours, "DeployItem"},
	"targets": {ours, "Target"}, "dataobjects": {ours, "DataObject"}, "contexts": {ours, "Context"},
	"deliverypolicies": {delivery, "DeliveryPolicy"}, "deliveryrevisions": {delivery, "DeliveryRevision"},
	"deliveryplans": {delivery, "DeliveryPlan"}, "deliveryapprovals": {delivery, "DeliveryApproval"},
	"channels": {"fleet.landscaper.dev/v1alpha1", "Channel"}, "fleets": {"fleet.landscaper.dev/v1alpha1", "Fleet"},
	"controllerrevisions": {"apps/v1", "ControllerRevision"},
	"secrets":             {"v1", "Secret"}, "configmaps": {"v1", "ConfigMap"}, "namespaces": {"v1", "Namespace"}, "events": {"v1", "Event"},
}

// pathOf is where an object is in the API.
func pathOf(object map[string]any) string {
	version := fmt.Sprint(object["apiVersion"])
	root := "/apis/" + version
	if version == "v1" {
		root = "/api/v1"
	}
	metadata, _ := object["metadata"].(map[string]any)
	if metadata["namespace"] == nil && object["kind"] != "Namespace" {
		metadata["namespace"] = "default"
	}
	if namespace := metadata["namespace"]; namespace != nil {
		root += fmt.Sprintf("/namespaces/%s", namespace)
	}
	plural := strings.ToLower(fmt.Sprint(object["kind"])) + "s"
	if stem, ok := strings.CutSuffix(plural, "ys"); ok {
		plural = stem + "ies"
	}
	return fmt.Sprintf("%s/%s/%s", root, plural, metadata["name"])
}

func answer(out http.ResponseWriter, code int, body any) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(code)
	_ = json.NewEncoder(out).Encode(body)
}

func notFound(out http.ResponseWriter, path string) {
	answer(out, http.StatusNotFound, metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound, Message: path + " not found",
		Details: &metav1.StatusDetails{},
	})
}
