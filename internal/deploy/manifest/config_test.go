package manifest

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	libdeployer "go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/rollout"
	"go.landscaper.dev/internal/runtime/job"
)

const group = "manifest.deployer.landscaper.gardener.cloud/"

// raw reads YAML as it is stored.
func raw(t *testing.T, text string) *runtime.RawExtension {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &runtime.RawExtension{Raw: content}
}

// read reads a configuration up to its objects.
func read(t *testing.T, text string) ([]apply.Entry, error) {
	t.Helper()
	config, err := parseConfig(raw(t, text))
	if err != nil {
		return nil, err
	}
	desiredState, err := (source{}).desiredState(config)
	return desiredState.Objects, err
}

func TestWrongConfiguration(t *testing.T) {
	const word = "top-secret-word"
	head := "apiVersion: " + group + "v1alpha2\nkind: ProviderConfiguration\n"
	tests := []struct{ reason, config, want string }{
		{"a configuration of another kind", "apiVersion: " + group + "v1alpha2\nkind: Other", "kind must be ProviderConfiguration"},
		{"a configuration of an unknown version", "apiVersion: " + group + "v9\nkind: ProviderConfiguration", "apiVersion must be " + group + "v1alpha2 or " + group + "v1alpha1"},
		{"no version", "kind: ProviderConfiguration", "apiVersion must be"},
		{"a field of the wrong type", head + "manifests: " + word, "field manifests must be a list, not string"},
		{"an object for a text", head + "updateStrategy: {a: b}", "field updateStrategy must be a text, not object"},
		{"a text for an object", head + "readinessChecks: " + word, "field readinessChecks must be a map, not string"},
		{"a text for a choice", head + "readinessChecks: {disableDefault: " + word + "}", "field readinessChecks.disableDefault must be true or false, not string"},
		{"a strategy that does not exist", head + "updateStrategy: replace", "updateStrategy has a value that does not exist"},
		{"a policy that does not exist", head + "manifests: [{policy: own, manifest: {a: b}}]", "manifests[0].policy has a value that does not exist"},
		{"an entry without an object", head + "manifests: [{policy: manage}]", "manifests[0].manifest is missing"},
		{"an entry with nothing", head + "manifests: [{manifest: null}]", "manifests[0].manifest is missing"},
		{"a text for a manifest", head + "manifests: [{manifest: " + word + "}]", "manifests[0].manifest must be an object"},
		{"a list for an object", head + "manifests: [{manifest: [" + word + "]}]", "manifests[0].manifest must be an object"},
		{"a List with items that are a text", head + "manifests: [{manifest: {kind: List, items: " + word + "}}]", "manifests[0].manifest.items: it must be a list of objects"},
		{"an element that is a text", head + "manifests: [{manifest: {kind: List, items: [" + word + "]}}]", "manifests[0].manifest.items[0]: it must be an object"},
		{"several problems are reported at once", head + "updateStrategy: replace\nmanifests: [{}]", "does not exist: use apply, update, patch, merge or mergeOverwrite; manifests[0].manifest is missing"},
		{"two schedules", head + "continuousReconcile: {every: 1m, cron: '@daily'}", "continuousReconcile has both cron and every"},
		{"a mode that does not exist", head + "readinessChecks: {mode: " + word + "}", "readinessChecks.mode does not exist: use legacy or kstatus"},
		{"an expression that cannot work", head + "readinessChecks: {custom: [{name: c, resourceSelector: [{apiVersion: v1, kind: A, name: a}], expressions: {current: '" + word + "='}}]}", "readinessChecks.custom[0].expressions.current: it is not an expression"},
		{"a group of neither sort", head + "deletionGroups: [{}]", "deletionGroups[0] must have exactly one of predefinedResourceGroup and customResourceGroup"},
		{"a group during updates", head + "deletionGroupsDuringUpdate: [{predefinedResourceGroup: {type: all}}]", "deletionGroupsDuringUpdate[0].predefinedResourceGroup.type does not exist"},
		{"a patch after the deployment that is a text", head + "manifests: [{manifest: {a: b}, patchAfterDeployment: " + word + "}]", "manifests[0].patchAfterDeployment must be an object"},
		{"a patch before the deletion that is a list", head + "manifests: [{manifest: {a: b}, patchBeforeDelete: [" + word + "]}]", "manifests[0].patchBeforeDelete must be an object"},
		{"a way out of conflicts that does not exist", head + "manifests: [{manifest: {a: b}, conflicts: " + word + "}]", "manifests[0].conflicts does not exist: use force or fail"},
		{"a way out of immutable fields that does not exist", head + "manifests: [{manifest: {a: b}, onImmutableChange: " + word + "}]", "manifests[0].onImmutableChange does not exist: use fail or recreate"},
		{"a pointer that is not valid", head + "manifests: [{manifest: {a: b}, ignoreDifferences: [a]}]", "manifests[0].ignoreDifferences[0]: it is not a JSON pointer"},
		{"a pointer to what says which object this is", head + "manifests: [{manifest: {a: b}, ignoreDifferences: [/metadata/name]}]", "it would hide which object this is"},
		{"an export without an object", head + "exports: {exports: [{key: a, jsonPath: .b}]}", "exports.exports[0]: fromResource is missing"},
		{"a check without requirements", head + "readinessChecks: {custom: [{name: c, resourceSelector: [{apiVersion: v1, kind: A, name: a}]}]}", "readinessChecks.custom[0].requirements is missing"},
		{"a field of the wrong type in the older version", "apiVersion: " + group + "v1alpha1\nkind: ProviderConfiguration\nmanifests: " + word, "field manifests"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, err := read(t, test.config)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if job.OutcomeOf(err) != job.Terminal {
				t.Error("another attempt would only repeat it")
			}
			if strings.Contains(err.Error(), word) {
				t.Errorf("the message has a value: %v", err)
			}
			var shown *job.Error
			if !errors.As(err, &shown) || shown.Operation != "InitManifestOperation" {
				t.Errorf("operation: %+v", shown)
			}
		})
	}
}

func TestEntries(t *testing.T) {
	tests := []struct {
		reason, config string
		want           []string
	}{
		{"objects with their policies", "apiVersion: " + group + "v1alpha2\nkind: ProviderConfiguration\nmanifests: [{policy: keep, manifest: {kind: A}}, {manifest: {kind: B}}]",
			[]string{"keep A manifests[0].manifest", "manage B manifests[1].manifest"}},
		{"a list gives its policy to its elements", "apiVersion: " + group + "v1alpha2\nkind: ProviderConfiguration\nmanifests: [{policy: immutable, manifest: {kind: List, items: [{kind: A}, {kind: B}]}}]",
			[]string{"immutable A manifests[0].manifest.items[0]", "immutable B manifests[0].manifest.items[1]"}},
		{"the older version has the objects themselves", "apiVersion: " + group + "v1alpha1\nkind: ProviderConfiguration\nmanifests: [{kind: A}]", []string{"manage A manifests[0].manifest"}},
		{"fields of old releases are left out", "apiVersion: " + group + "v1alpha2\nkind: ProviderConfiguration\nkubeconfig: b2xk\ndeleteTimeout: 2m\nreadinessChecks: {timeout: 1m}", nil},
		{"nothing is something that can be wanted", "apiVersion: " + group + "v1alpha2\nkind: ProviderConfiguration", nil},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			list, err := read(t, test.config)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, entry := range list {
				got = append(got, string(entry.Policy)+" "+entry.Object.GetKind()+" "+entry.Position)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestDesiredState shows that everything that a configuration says reaches the roll-out, in
// both versions.
func TestDesiredState(t *testing.T) {
	const rest = `
kind: ProviderConfiguration
updateStrategy: patch
readinessChecks: {disableDefault: true, custom: [{name: c, targetName: edge, resourceSelector: [{apiVersion: v1, kind: A, name: a}], requirements: [{jsonPath: .a, operator: exists}]}]}
exports: {exports: [{key: k, jsonPath: .a, targetName: edge, fromResource: {apiVersion: v1, kind: A, name: a}}]}`
	for _, version := range []string{"v1alpha1", "v1alpha2"} {
		t.Run(version, func(t *testing.T) {
			config, err := parseConfig(raw(t, "apiVersion: "+group+version+rest))
			if err != nil {
				t.Fatal(err)
			}
			w, err := (source{}).desiredState(config)
			if err != nil {
				t.Fatal(err)
			}
			if w.Strategy != "patch" || !w.SkipReadiness || len(w.Checks) != 1 || w.Checks[0].TargetName != "edge" || len(w.Exports) != 1 || w.Exports[0].TargetName != "edge" {
				t.Errorf("%+v", w)
			}
		})
	}
	for text, want := range map[string]bool{"": false, "exports: {}": true, "exports: {exports: []}": true} {
		config, err := parseConfig(raw(t, "apiVersion: "+group+"v1alpha2\nkind: ProviderConfiguration\n"+text))
		if err != nil {
			t.Fatal(err)
		}
		if w, err := (source{}).desiredState(config); err != nil || (w.Exports != nil) != want {
			t.Errorf("%q hands something on: %t, error %v", text, w.Exports != nil, err)
		}
	}
}

// TestOptions shows that the rules of the process count where an item says nothing.
func TestOptions(t *testing.T) {
	s := source{rollout.Options{Readiness: deployer.ReadinessModeKstatus, Protected: []string{"kube-system"}}}
	for text, want := range map[string]deployer.ReadinessMode{"": "kstatus", "readinessChecks: {mode: legacy}": "legacy"} {
		t.Run(text, func(t *testing.T) {
			config, err := parseConfig(raw(t, "apiVersion: "+group+"v1alpha2\nkind: ProviderConfiguration\n"+text))
			if err != nil {
				t.Fatal(err)
			}
			if w, err := s.desiredState(config); err != nil || w.Readiness != want {
				t.Errorf("%q: mode %q, error %v", text, w.Readiness, err)
			}
		})
	}
	const empties = ": [{customResourceGroup: {deleteAllResources: true, resources: [{apiVersion: v1, kind: Secret, namespaces: [kube-system]}]}}]"
	for _, field := range []string{"deletionGroups", "deletionGroupsDuringUpdate"} {
		t.Run(field, func(t *testing.T) {
			item := &libdeployer.Item{DeployItem: &v1alpha1.DeployItem{}}
			item.Spec.Configuration = raw(t, "apiVersion: "+group+"v1alpha2\nkind: ProviderConfiguration\n"+field+empties)
			if _, err := s.DesiredState(t.Context(), item); err == nil || !strings.Contains(err.Error(), field+"[0].customResourceGroup.resources[0].namespaces: an administrator protects namespace kube-system") {
				t.Errorf("%s: error %v", field, err)
			}
			if _, err := s.Groups(item); (err == nil) != (field != "deletionGroups") {
				t.Errorf("%s at the deletion: error %v", field, err)
			}
		})
	}
}

// TestRepetition shows that what a configuration asks for is read from it, and that one
// that cannot be read asks for nothing.
func TestRepetition(t *testing.T) {
	tests := []struct {
		reason, config string
		repeats, watch bool
	}{
		{"no repetition is configured", "", false, false},
		{"the item is deployed again on a schedule", "continuousReconcile: {every: 1m}", true, false},
		{"values are watched", "exports: {watch: true, exports: [{key: a, jsonPath: .b, fromResource: {apiVersion: v1, kind: A, name: a}}]}", false, true},
		{"a configuration that cannot be read", "continuousReconcile: {every: 1m}\nmanifests: 1", false, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			item := &v1alpha1.DeployItem{}
			item.Spec.Configuration = raw(t, "apiVersion: "+group+"v1alpha2\nkind: ProviderConfiguration\n"+test.config)
			got := New(rollout.Options{}).Repetition(item)
			if (got.Next != nil) != test.repeats || got.Watch != test.watch {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestNumbersStayWhole shows that a large number is not changed by reading it.
func TestNumbersStayWhole(t *testing.T) {
	list, err := read(t, "apiVersion: "+group+"v1alpha2\nkind: ProviderConfiguration\nmanifests: [{manifest: {kind: A, spec: {i: 9007199254740993, f: 1.5}}}]")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"i": int64(9007199254740993), "f": 1.5}, list[0].Object.Object["spec"]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestRecordedStatus(t *testing.T) {
	tests := []struct {
		reason, status string
		want           []string
		fails          string
	}{
		{"nothing was deployed", "", nil, ""},
		{"the status of today", "apiVersion: " + group + "v1alpha2\nkind: ProviderStatus\nmanagedResources: [{policy: keep, resource: {apiVersion: v1, kind: A, name: a, uid: u}}]", []string{"keep a u"}, ""},
		{"the status of the older version", "apiVersion: " + group + "v1alpha1\nkind: ProviderStatus\nmanagedResources: [{apiVersion: v1, kind: A, name: a, namespace: ns}]", []string{"manage a "}, ""},
		{"the status of another deployer", "apiVersion: helm.deployer.landscaper.gardener.cloud/v1alpha1\nkind: ProviderStatus", nil, "is not one of the manifest deployer"},
		{"a status that cannot be read", "apiVersion: " + group + "v1alpha2\nkind: ProviderStatus\nmanagedResources: 1", nil, "field managedResources"},
		{"an older one that cannot be read", "apiVersion: " + group + "v1alpha1\nkind: ProviderStatus\nmanagedResources: 1", nil, "field managedResources"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var stored *runtime.RawExtension
			if test.status != "" {
				stored = raw(t, test.status)
			}
			inventory, err := parseInventory(stored)
			if (err == nil) != (test.fails == "") || (err != nil && !strings.Contains(err.Error(), test.fails)) {
				t.Fatalf("error %v, want %q", err, test.fails)
			}
			var got []string
			for _, entry := range inventory {
				got = append(got, string(entry.Policy)+" "+entry.Resource.Name+" "+string(entry.Resource.UID))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestStatusKeepsEverything shows that an inventory comes back as it was stored.
func TestStatusKeepsEverything(t *testing.T) {
	inventory := apply.Inventory{{Policy: deployer.FallbackPolicy, AnnotateBeforeDelete: map[string]string{"a": "b"}, PatchBeforeDelete: &runtime.RawExtension{Raw: []byte(`{"spec":{"suspend":false}}`)}}}
	inventory[0].Resource.Name, inventory[0].Resource.UID = "a", "u"
	content, err := yaml.Marshal(statusOf(inventory))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(content), "apiVersion: "+group+"v1alpha2\nkind: ProviderStatus\n") {
		t.Errorf("the status is\n%s", content)
	}
	back, err := parseInventory(raw(t, string(content)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(inventory, back); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
