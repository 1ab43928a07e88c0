package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/model/admission"
	"go.landscaper.dev/internal/server/install"
)

type admissionCase struct {
	Reason  string          `json:"reason"`
	Rule    string          `json:"rule"`
	Object  json.RawMessage `json:"object"`
	Old     json.RawMessage `json:"old"`
	Refused string          `json:"refused"`
	Warned  string          `json:"warned"`
}

// TestAdmission sends every object of the table to the API server and reads what
// it says. The table covers every rule.
func TestAdmission(t *testing.T) {
	content, err := os.ReadFile("../../internal/model/validation/testdata/admission.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []admissionCase
	if err := yaml.Unmarshal(content, &cases); err != nil {
		t.Fatal(err)
	}
	covered := map[string]bool{}
	for _, test := range cases {
		covered[test.Rule] = true
		t.Run(test.Reason, func(t *testing.T) {
			warnings, err := send(t, test)
			switch {
			case test.Refused == "" && err != nil:
				t.Errorf("refused a valid object: %v", err)
			case test.Refused != "" && (err == nil || !strings.Contains(err.Error(), test.Refused)):
				t.Errorf("got error %v, want one with %q", err, test.Refused)
			case !strings.Contains(warnings, test.Warned):
				t.Errorf("got warnings %q, want one with %q", warnings, test.Warned)
			case test.Warned == "" && warnings != "":
				t.Errorf("unexpected warnings %q", warnings)
			}
		})
	}
	for _, kind := range admission.Kinds() {
		for _, rule := range kind.Rules {
			if name := kind.Resource + "/" + rule.ID; !covered[name] {
				t.Errorf("rule %s has no case", name)
			}
		}
	}
}

// send creates the object of a case, or updates the old one to it, and returns
// the warnings of the API server.
func send(t *testing.T, test admissionCase) (string, error) {
	t.Helper()
	recorder := &warningRecorder{}
	cluster := clientWithWarnings(t, recorder)
	object := mustParse(t, string(test.Object))
	if test.Old == nil {
		err := create(t, cluster, object)
		return recorder.text(), err
	}
	stored := mustParse(t, string(test.Old))
	if err := create(t, cluster, stored); err != nil {
		t.Fatal(err)
	}
	stored.Object["spec"] = object.Object["spec"]
	err := cluster.Update(t.Context(), stored)
	return recorder.text(), err
}

func create(t *testing.T, cluster client.Client, object *unstructured.Unstructured) error {
	t.Helper()
	err := cluster.Create(t.Context(), object)
	if err == nil {
		t.Cleanup(func() {
			if err := cluster.Delete(context.Background(), object); client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
		})
	}
	return err
}

// TestUnchangedSpecIsNotChecked shows that an object which was stored before a
// rule was in force can still lose its finalizer.
func TestUnchangedSpecIsNotChecked(t *testing.T) {
	object := mustParse(t, `{kind: Installation, metadata: {finalizers: [acme.example/keep], labels: {validation.landscaper.gardener.cloud/skip-validation: "true"}}, spec: {blueprint: {}}}`)
	if err := cluster.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	object.SetLabels(nil)
	if err := cluster.Update(t.Context(), object); err != nil {
		t.Fatalf("the label could not be removed: %v", err)
	}
	changed := object.DeepCopy()
	if err := unstructured.SetNestedField(changed.Object, "other", "spec", "context"); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Update(t.Context(), changed); err == nil {
		t.Error("a change of the spec was not checked")
	}
	if err := cluster.Delete(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		t.Fatal(err)
	}
	object.SetFinalizers(nil)
	if err := cluster.Update(t.Context(), object); err != nil {
		t.Errorf("the finalizer could not be removed: %v", err)
	}
}

// TestStatusIsNotChecked shows that status writes pay nothing for the rules.
func TestStatusIsNotChecked(t *testing.T) {
	object := mustParse(t, `{kind: DeployItem, spec: {type: t}}`)
	if err := create(t, cluster, object); err != nil {
		t.Fatal(err)
	}
	object.Object["status"] = map[string]any{"phase": "Succeeded", "observedGeneration": int64(1), "jobID": "a", "jobIDFinished": "a"}
	if err := cluster.Status().Update(t.Context(), object); err != nil {
		t.Error(err)
	}
}

// TestHugeListsPass shows that a list beyond what the API server can afford to
// check is stored: the controllers check it.
func TestHugeListsPass(t *testing.T) {
	var imports []any
	for i := range 2000 {
		imports = append(imports, map[string]any{"name": fmt.Sprintf("import-%d", i), "dataRef": "a"})
	}
	imports = append(imports, imports[0])
	object := mustParse(t, `{kind: Installation, spec: {blueprint: {ref: {resourceName: a}}}}`)
	if err := unstructured.SetNestedSlice(object.Object, imports, "spec", "imports", "data"); err != nil {
		t.Fatal(err)
	}
	if err := create(t, cluster, object); err != nil {
		t.Error(err)
	}
}

// warningRecorder keeps the warnings of an API server.
type warningRecorder struct {
	mutex    sync.Mutex
	messages []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (r *warningRecorder) HandleWarningHeader(_ int, _ string, message string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.messages = append(r.messages, message)
}

func (r *warningRecorder) text() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return strings.Join(r.messages, "\n")
}

func clientWithWarnings(t *testing.T, recorder *warningRecorder) client.Client {
	t.Helper()
	noisy := rest.CopyConfig(config)
	noisy.WarningHandler = recorder
	cluster, err := client.New(noisy, client.Options{Scheme: install.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return cluster
}

func mustParse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return object
}

func parse(text string) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		return nil, err
	}
	complete(object)
	return object, nil
}

// TestStoredEmptyComponent: the published controller stores an empty definition of a component in
// subinstallations. Such an object can be changed otherwise, but no client can make a definition
// empty.
func TestStoredEmptyComponent(t *testing.T) {
	object := mustParse(t, `{kind: Installation, metadata: {labels: {validation.landscaper.gardener.cloud/skip-validation: "true"}}, spec: {blueprint: {ref: {resourceName: a}}, componentDescriptor: {}}}`)
	if err := create(t, cluster, object); err != nil {
		t.Fatal(err)
	}
	object.SetLabels(nil)
	spec := object.Object["spec"].(map[string]any)
	spec["blueprint"] = map[string]any{"ref": map[string]any{"resourceName": "b"}}
	if err := cluster.Update(t.Context(), object); err != nil {
		t.Fatalf("the Installation cannot be changed: %v", err)
	}
	spec = object.Object["spec"].(map[string]any)
	spec["componentDescriptor"] = map[string]any{"ref": map[string]any{"componentName": "example.org/a", "version": "1.0.0"}}
	if err := cluster.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	object.Object["spec"].(map[string]any)["componentDescriptor"] = map[string]any{}
	if err := cluster.Update(t.Context(), object); err == nil || !strings.Contains(err.Error(), "spec.componentDescriptor") {
		t.Errorf("an emptied definition: %v", err)
	}
}
