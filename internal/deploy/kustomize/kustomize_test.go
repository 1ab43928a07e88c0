package kustomize

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	apideployer "go.landscaper.dev/api/deployer"
	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/kustomize/files"
	"go.landscaper.dev/internal/runtime/job"
)

const head = "apiVersion: kustomize.deployer.landscaper.gardener.cloud/v1alpha1\nkind: ProviderConfiguration\n"

func raw(t *testing.T, text string) *runtime.RawExtension {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.RawExtension{Raw: content}
}

func itemWith(t *testing.T, config string) *deployer.Item {
	t.Helper()
	item := &v1alpha1.DeployItem{}
	item.Name, item.Spec.Configuration = "item", raw(t, config)
	return &deployer.Item{DeployItem: item}
}

// counted counts how often sources are loaded.
type counted struct {
	Sources
	loaded int
}

func (c *counted) Load(ctx context.Context, item *v1alpha1.DeployItem, source *api.Source) (*memfs.Tree, error) {
	c.loaded++
	return c.Sources.Load(ctx, item, source)
}

// TestWrong shows that an error in an item is reported with its field and ends the job, before any
// request to the source.
func TestWrong(t *testing.T) {
	const word = "hunter2hunter2"
	const source = "source: {files: {a.yaml: '{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {k: " + word + "}}'}}\n"
	for _, test := range []struct {
		reason, config, want string
		loaded               int
	}{
		{"a configuration of another kind", "apiVersion: v1\nkind: Other\n" + source, "kind ProviderConfiguration", 0},
		{"a field that does not exist", head + source + "postBuild: {}", `unknown field "postBuild"`, 0},
		{"a field that is misspelt", head + "sourcce: {}", `unknown field "sourcce", did you mean "source"?`, 0},
		{"a field of a deletion group that is misspelt", head + source + "deletionGroups: [{customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap, namespces: [a]}]}}]", `unknown field "deletionGroups[0].customResourceGroup.resources[0].namespces", did you mean "namespaces"?`, 0},
		{"a field of the wrong type", head + source + "patches: " + word, "field patches must be a list, not string", 0},
		{"no source", head, "source: nothing says where the files are", 0},
		{"several problems", head + "updateStrategy: " + word, "does not exist: use apply, update, patch, merge or mergeOverwrite; source: nothing", 0},
		{"a group without content", head + source + "deletionGroups: [{}]", "deletionGroups[0]", 0},
		{"a path that is not there", head + source + "path: other", `path: "other"`, 1},
		{"a patch that does not fit", head + source + "patches: [{target: {kind: Secret}, patch: '[{op: test, path: /stringData/k, value: x" + word + "}]'}]", "testing value", 1},
	} {
		t.Run(test.reason, func(t *testing.T) {
			sources := &counted{Sources: &files.Loader{}}
			_, err := New(Options{Sources: sources}).DesiredState(t.Context(), itemWith(t, test.config))
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), word) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if job.OutcomeOf(err) != job.Terminal || sources.loaded != test.loaded {
				t.Errorf("outcome %v, loaded %d times", job.OutcomeOf(err), sources.loaded)
			}
		})
	}
}

// TestDesiredState shows what the roll-out gets, and that who watches exports loads nothing.
func TestDesiredState(t *testing.T) {
	sources := &counted{Sources: &files.Loader{}}
	d := New(Options{Sources: sources})
	item := itemWith(t, head+"source: {files: {a.yaml: '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}'}}\nexports: {watch: true, exports: [{key: a, jsonPath: .b, fromResource: {apiVersion: v1, kind: ConfigMap, name: a, namespace: b}}]}\ncontinuousReconcile: {every: 1m, drift: correct}")
	desiredState, err := d.DesiredState(t.Context(), item)
	if err != nil || len(desiredState.Objects) != 1 || desiredState.Objects[0].Policy != apideployer.ManagePolicy || desiredState.Objects[0].Position != "ConfigMap a of the kustomization" {
		t.Errorf("wish %+v, error %v", desiredState, err)
	}
	if desiredState, err := settings(d).DesiredState(t.Context(), item); err != nil || len(desiredState.Exports) != 1 || sources.loaded != 1 {
		t.Errorf("wish %+v, error %v, loaded %d times", desiredState, err, sources.loaded)
	}
	if repetition := d.Repetition(item.DeployItem); repetition.Next == nil || !repetition.Correct || !repetition.Watch {
		t.Errorf("repetition %+v", repetition)
	}
	inventory := apply.Inventory{{Policy: apideployer.ManagePolicy}}
	inventory[0].Resource.Name = "a"
	stored, err := yaml.Marshal(d.Status(item, inventory))
	if err != nil {
		t.Fatal(err)
	}
	back, err := parseInventory(raw(t, string(stored)))
	if diff := cmp.Diff(inventory, back); diff != "" || err != nil {
		t.Errorf("error %v, -want +got\n%s", err, diff)
	}
	if _, err := parseInventory(raw(t, "apiVersion: v1")); err == nil {
		t.Error("the status of another deployer is read")
	}
}

// TestDocumentedConfigurations shows that the examples of the reference page work.
func TestDocumentedConfigurations(t *testing.T) {
	page, err := os.ReadFile("../../../docs/reference/kustomize.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(page), "```yaml\n")[1:]
	if len(examples) == 0 {
		t.Error("there is no example")
	}
	for _, example := range examples {
		example, _, _ = strings.Cut(example, "```")
		config, err := parseConfig(raw(t, example))
		if err == nil {
			_, err = objects{}.check(config)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, example)
		}
	}
}
