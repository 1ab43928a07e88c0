package deletion

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/model/ownership"
)

func compileText(t *testing.T, text string) ([]Group, error) {
	t.Helper()
	var definitions []deployer.DeletionGroupDefinition
	if err := yaml.Unmarshal([]byte(text), &definitions); err != nil {
		t.Fatal(err)
	}
	return Compile(definitions, []string{"kube-system"})
}

func TestCompile(t *testing.T) {
	tests := []struct{ reason, groups, want string }{
		{"all sorts of groups", "[{predefinedResourceGroup: {type: empty}}, {predefinedResourceGroup: {type: crds, force-delete: true}}, {customResourceGroup: {resources: [{apiVersion: v1, kind: configmaps, namespace: a}]}}]", ""},
		{"a group on another cluster", "[{customResourceGroup: {targetName: edge, deleteAllResources: true, resources: [{apiVersion: v1, kind: A}]}}]", ""},
		{"no group", "[{}]", "[0] must have exactly one of"},
		{"two groups in one", "[{predefinedResourceGroup: {type: empty}, customResourceGroup: {resources: [{apiVersion: v1, kind: A}]}}]", "[0] must have exactly one of"},
		{"a group that does not exist", "[{predefinedResourceGroup: {type: empty}}, {predefinedResourceGroup: {type: all}}]", "[1].predefinedResourceGroup.type does not exist"},
		{"no kinds", "[{customResourceGroup: {forceDelete: true}}]", "[0].customResourceGroup.resources is missing"},
		{"no kind", "[{customResourceGroup: {resources: [{apiVersion: v1}]}}]", "resources[0] must have apiVersion and kind"},
		{"no version", "[{customResourceGroup: {resources: [{kind: A}]}}]", "resources[0] must have apiVersion and kind"},
		{"a version that is not valid", "[{customResourceGroup: {resources: [{apiVersion: a/b/c, kind: A}]}}]", "resources[0] must have apiVersion and kind"},
		{"a group on another cluster, where nothing was deployed", "[{customResourceGroup: {targetName: edge, resources: [{apiVersion: v1, kind: A}]}}]", "targetName needs deleteAllResources"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, err := compileText(t, test.groups)
			if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if diff := cmp.Diff(DefaultGroups(), must(compileText(t, "[]"))); diff != "" {
		t.Errorf("without groups the default ones apply: -want +got\n%s", diff)
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// inventoryOf stores objects and records them.
func inventoryOf(t *testing.T, c *fakecluster.Cluster, texts ...string) apply.Inventory {
	t.Helper()
	var inventory apply.Inventory
	for _, text := range texts {
		object := parse(t, text)
		inventory = append(inventory, recorded(object, "manage", c.Put(object).GetUID()))
	}
	return inventory
}

const (
	crd       = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}}`
	namespace = `{apiVersion: v1, kind: Namespace, metadata: {name: ns}}`
	mapA      = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}`
	mapB      = `{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: other}}`
	secret    = `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}}`
)

func TestGroups(t *testing.T) {
	tests := []struct {
		reason, groups string
		want           []string
	}{
		{"the default groups take everything", "[]", nil},
		{"empty deletes nothing", "[{predefinedResourceGroup: {type: empty}}]", []string{"ConfigMap ns/a", "ConfigMap other/b", "CustomResourceDefinition /x", "Namespace /ns", "Secret ns/s"}},
		{"what is in namespaces", "[{predefinedResourceGroup: {type: namespaced-resources}}]", []string{"CustomResourceDefinition /x", "Namespace /ns"}},
		{"what is in no namespace", "[{predefinedResourceGroup: {type: cluster-scoped-resources}}]", []string{"ConfigMap ns/a", "ConfigMap other/b", "CustomResourceDefinition /x", "Secret ns/s"}},
		{"definitions", "[{predefinedResourceGroup: {type: crds}}]", []string{"ConfigMap ns/a", "ConfigMap other/b", "Namespace /ns", "Secret ns/s"}},
		{"definitions stay", "[{predefinedResourceGroup: {type: namespaced-resources}}, {predefinedResourceGroup: {type: cluster-scoped-resources}}]", []string{"CustomResourceDefinition /x"}},
		{"a kind", "[{customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap}]}}]", []string{"CustomResourceDefinition /x", "Namespace /ns", "Secret ns/s"}},
		{"a kind by the name of its resource", "[{customResourceGroup: {resources: [{apiVersion: v1, kind: configmaps}]}}]", []string{"CustomResourceDefinition /x", "Namespace /ns", "Secret ns/s"}},
		{"a kind in another spelling", "[{customResourceGroup: {resources: [{apiVersion: v1, kind: configMap}]}}]", []string{"CustomResourceDefinition /x", "Namespace /ns", "Secret ns/s"}},
		{"a name", "[{customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap, names: [a]}]}}]", []string{"ConfigMap other/b", "CustomResourceDefinition /x", "Namespace /ns", "Secret ns/s"}},
		{"a namespace", "[{customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap, namespaces: [other]}]}}]", []string{"ConfigMap ns/a", "CustomResourceDefinition /x", "Namespace /ns", "Secret ns/s"}},
		{"a name in another namespace", "[{customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap, names: [a], namespaces: [other]}]}}]", []string{"ConfigMap ns/a", "ConfigMap other/b", "CustomResourceDefinition /x", "Namespace /ns", "Secret ns/s"}},
		{"two kinds", "[{customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Secret}]}}]", []string{"CustomResourceDefinition /x", "Namespace /ns"}},
		{"an unknown kind", "[{customResourceGroup: {resources: [{apiVersion: acme.example/v1, kind: Unknown}]}}]", []string{"ConfigMap ns/a", "ConfigMap other/b", "CustomResourceDefinition /x", "Namespace /ns", "Secret ns/s"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := fakecluster.New()
			inventory := inventoryOf(t, c, crd, namespace, mapA, mapB, secret)
			d := New(Plan{Cluster: c, Inventory: inventory, Owner: owner, Groups: must(compileText(t, test.groups)), Wake: func() {}})
			if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) > 0 {
				t.Fatalf("waiting %v, error %v", waiting, err)
			}
			if diff := cmp.Diff(test.want, c.Names()); diff != "" {
				t.Errorf("left, -want +got\n%s", diff)
			}
			if len(d.Gone()) != len(inventory) {
				t.Errorf("what stays need not be remembered, either: %v", d.Gone())
			}
		})
	}
}

// TestFirstGroupTakes shows that an object belongs to the first group that takes it,
// and that a group waits for the one before.
func TestFirstGroupTakes(t *testing.T) {
	c := fakecluster.New()
	inventory := inventoryOf(t, c, mapB, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, finalizers: [acme.example/hold]}}`)
	d := New(Plan{Cluster: c, Inventory: inventory, Owner: owner, Wake: func() {}, Groups: must(compileText(t,
		"[{customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap, names: [a]}]}}, {predefinedResourceGroup: {type: namespaced-resources}}]"))})
	if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) != 1 {
		t.Fatalf("waiting %v, error %v", waiting, err)
	}
	if c.Find("ConfigMap", "other", "b") == nil {
		t.Error("the next group began before the first one was deleted")
	}
	c.Remove("ConfigMap", "ns", "a")
	if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) != 0 || len(c.Names()) != 0 {
		t.Errorf("waiting %v, error %v, left %v", waiting, err, c.Names())
	}
}

// TestProtectedNamespaces shows that an object in a protected namespace is deleted only if the item
// has deployed it, and that no configuration changes that.
func TestProtectedNamespaces(t *testing.T) {
	const system, itself = `{apiVersion: v1, kind: ConfigMap, metadata: {name: central, namespace: kube-system}}`, `{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}`
	c := fakecluster.New()
	own := inventoryOf(t, c, `{apiVersion: v1, kind: ConfigMap, metadata: {name: own, namespace: kube-system, labels: {`+owner.Label+`: `+owner.Name+`}}}`)
	inventoryOf(t, c, mapA, namespace, system, itself)
	d := New(Plan{Cluster: c, Inventory: own, Owner: owner, Wake: func() {}, Groups: must(compileText(t,
		"[{customResourceGroup: {deleteAllResources: true, resources: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Namespace}]}}]"))})
	if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) > 0 {
		t.Fatalf("waiting %v, error %v", waiting, err)
	}
	if diff := cmp.Diff([]string{"ConfigMap kube-system/central", "Namespace /kube-system"}, c.Names()); diff != "" {
		t.Errorf("left, -want +got\n%s", diff)
	}
	_, err := compileText(t, "[{customResourceGroup: {deleteAllResources: true, resources: [{apiVersion: v1, kind: ConfigMap, namespaces: [ns, kube-system]}]}}]")
	if err == nil || !strings.Contains(err.Error(), "resources[0].namespaces: an administrator protects namespace kube-system") {
		t.Errorf("error %v", err)
	}
	if _, err := compileText(t, "[{customResourceGroup: {resources: [{apiVersion: v1, kind: ConfigMap, namespaces: [kube-system]}]}}]"); err != nil {
		t.Errorf("a group of what the item has deployed: %v", err)
	}
}

func TestForce(t *testing.T) {
	for name, groups := range map[string]string{
		"by nature": "[{predefinedResourceGroup: {type: namespaced-resources, forceDelete: true}}]",
		"by kind":   "[{customResourceGroup: {forceDelete: true, resources: [{apiVersion: v1, kind: ConfigMap}]}}]",
	} {
		t.Run(name, func(t *testing.T) {
			c := fakecluster.New()
			inventory := inventoryOf(t, c, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, finalizers: [acme.example/hold]}}`)
			d := New(Plan{Cluster: c, Inventory: inventory, Owner: owner, Groups: must(compileText(t, groups)), Wake: func() {}})
			for range 2 {
				if _, err := d.Continue(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if len(c.Names()) != 0 || d.Left() != 0 {
				t.Errorf("left %v, %d", c.Names(), d.Left())
			}
		})
	}
}

func TestDeleteAll(t *testing.T) {
	tests := []struct {
		reason, groups string
		want           []string
	}{
		{"all objects of a kind, whichever client created them", "{deleteAllResources: true, resources: [{apiVersion: v1, kind: ConfigMap}]}", []string{"Namespace /ns", "Secret ns/s"}},
		{"in a namespace", "{deleteAllResources: true, resources: [{apiVersion: v1, kind: ConfigMap, namespaces: [ns]}]}", []string{"ConfigMap other/b", "Namespace /ns", "Secret ns/s"}},
		{"with a name", "{deleteAllResources: true, resources: [{apiVersion: v1, kind: configmaps, names: [b]}]}", []string{"ConfigMap ns/a", "Namespace /ns", "Secret ns/s"}},
		{"without a namespace, where namespaces mean nothing", "{deleteAllResources: true, resources: [{apiVersion: v1, kind: Namespace, namespaces: [other]}]}", []string{"ConfigMap ns/a", "ConfigMap other/b", "Secret ns/s"}},
		{"an unknown kind has no objects", "{deleteAllResources: true, resources: [{apiVersion: acme.example/v1, kind: Unknown}]}", []string{"ConfigMap ns/a", "ConfigMap other/b", "Namespace /ns", "Secret ns/s"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := fakecluster.New()
			inventoryOf(t, c, namespace, mapA, mapB, secret)
			d := New(Plan{Cluster: c, Owner: owner, Groups: must(compileText(t, "[{customResourceGroup: "+test.groups+"}]")), Wake: func() {}})
			if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) != 0 {
				t.Fatalf("waiting %v, error %v", waiting, err)
			}
			if diff := cmp.Diff(test.want, c.Names()); diff != "" {
				t.Errorf("left, -want +got\n%s", diff)
			}
		})
	}
}

// TestDeleteAllInARemovalRound: objects that another item or a release has taken over, or made,
// stay although all of the kind are to be deleted, as everything that is wanted is deployed
// already.
func TestDeleteAllInARemovalRound(t *testing.T) {
	for _, spares := range []bool{false, true} {
		c := fakecluster.New()
		for name, labels := range map[string]map[string]string{
			"own": {ownership.ManifestLabel: two.Name}, "without-owner": nil,
			"of-another": {ownership.ManifestLabel: "new"}, "of-a-kustomization": {ownership.KustomizeLabel: "k"}, "of-a-release": {ownership.HelmManagedByLabel: ownership.HelmManagedBy},
		} {
			object := ofTwo(name)
			object.SetLabels(labels)
			if name == "of-a-release" {
				object.SetAnnotations(map[string]string{ownership.HelmReleaseAnnotation: "web", ownership.HelmReleaseNamespaceAnnotation: "ns"})
			}
			c.Put(object)
		}
		owner := two
		owner.SparesOthers = spares
		d := New(Plan{Cluster: c, Owner: owner, Terminating: true, Wake: func() {}, Groups: must(compileText(t, "[{customResourceGroup: {deleteAllResources: true, resources: [{apiVersion: v1, kind: ConfigMap}]}}]"))})
		if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) != 0 {
			t.Fatalf("waiting %v, error %v", waiting, err)
		}
		var want []string
		if spares {
			want = []string{"ConfigMap ns/of-a-kustomization", "ConfigMap ns/of-a-release", "ConfigMap ns/of-another"}
		}
		if diff := cmp.Diff(want, c.Names()); diff != "" {
			t.Errorf("in a removal round: %t, left, -want +got\n%s", spares, diff)
		}
	}
}

// TestSecondCluster shows that what is deleted on another cluster is not taken for
// what was recorded here.
func TestSecondCluster(t *testing.T) {
	here, there := fakecluster.New(), fakecluster.New()
	inventory := inventoryOf(t, here, mapA)
	there.Put(parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, finalizers: [acme.example/hold]}}`))
	missing := true
	d := New(Plan{
		Cluster: here, Inventory: inventory, Owner: owner, Wake: func() {},
		Groups: must(compileText(t, "[{customResourceGroup: {targetName: edge, deleteAllResources: true, resources: [{apiVersion: v1, kind: ConfigMap}]}}, {predefinedResourceGroup: {type: namespaced-resources}}]")),
		ClusterOf: func(_ context.Context, name string) (target.Cluster, error) {
			if missing || name != "edge" {
				return nil, errors.New("no such Target")
			}
			return there, nil
		},
	})
	if _, err := d.Continue(t.Context()); err == nil || len(here.Requests) != 0 {
		t.Errorf("error %v, requests %v: nothing is deleted before all clusters are known", err, here.Requests)
	}
	missing = false
	if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) != 1 {
		t.Fatalf("waiting %v, error %v", waiting, err)
	}
	there.Remove("ConfigMap", "ns", "a")
	there.Put(parse(t, mapB))
	if len(d.Gone()) != 0 {
		t.Errorf("gone %v, but that was on the other cluster", d.Gone())
	}
	if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) != 0 || len(d.Gone()) != 1 {
		t.Errorf("waiting %v, error %v, gone %v", waiting, err, d.Gone())
	}
	if len(here.Names()) != 0 || len(there.Names()) != 1 {
		t.Errorf("left %v and %v: the list is made once", here.Names(), there.Names())
	}
}

func TestBeforeDelete(t *testing.T) {
	annotated := func(entry deployer.ManagedResourceStatus, patch string) deployer.ManagedResourceStatus {
		entry.AnnotateBeforeDelete = map[string]string{"acme.example/confirm": "yes"}
		if patch != "" {
			entry.PatchBeforeDelete = &runtime.RawExtension{Raw: []byte(patch)}
		}
		return entry
	}
	tests := []struct {
		reason, live, patch string
		policy              deployer.ManifestPolicy
		uid                 bool
		writes              int
		fails               string
	}{
		{"annotations and a patch are set before", held, `{"data":{"x":"1"}}`, "manage", true, 1, ""},
		{"what is set already costs nothing", strings.Replace(held, "finalizers", "annotations: {acme.example/confirm: 'yes'}, finalizers", 1), "", "manage", true, 0, ""},
		{"what is not ours is not touched", strings.Replace(held, "item}", "other}", 1), "", "manage", false, 0, ""},
		{"fallback looks whose it is now", strings.Replace(held, "item}", "other}", 1), "", "fallback", true, 0, ""},
		{"a patch that is not an object", held, `[1]`, "manage", true, 0, "patchBeforeDelete must be an object"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := fakecluster.New()
			stored := c.Put(parse(t, test.live))
			entry := recorded(stored, test.policy, "")
			if test.uid {
				entry.Resource.UID = stored.GetUID()
			}
			d := New(Plan{Cluster: c, Inventory: apply.Inventory{annotated(entry, test.patch)}, Owner: owner, Wake: func() {}})
			_, err := d.Continue(t.Context())
			if (err == nil) != (test.fails == "") || (err != nil && !strings.Contains(err.Error(), test.fails)) {
				t.Errorf("error %v, want %q", err, test.fails)
			}
			if got := c.Counts()["update"]; got != test.writes {
				t.Errorf("%d writes, want %d", got, test.writes)
			}
			live := c.Find("ConfigMap", "ns", "a")
			if test.writes > 0 && (live.GetAnnotations()["acme.example/confirm"] != "yes" || live.Object["data"].(map[string]any)["x"] != "1" || live.GetDeletionTimestamp() == nil) {
				t.Errorf("it is %v", live)
			}
		})
	}
	c := fakecluster.New()
	gone := annotated(recorded(parse(t, own), "manage", "u"), "")
	if waiting, err := New(Plan{Cluster: c, Inventory: apply.Inventory{gone}, Owner: owner, Wake: func() {}}).Continue(t.Context()); err != nil || len(waiting) != 0 {
		t.Errorf("an object that is deleted: waiting %v, error %v", waiting, err)
	}
}

// TestNumbersBeforeDelete: a number of a patch is the one that was written, and one that is
// there already costs no write.
func TestNumbersBeforeDelete(t *testing.T) {
	const large = int64(1)<<53 + 1
	for _, test := range []struct {
		reason string
		before int64
		writes int
	}{
		{"a number that no float can hold", 1, 1},
		{"a patch with a large number that does not change", large, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := fakecluster.New()
			object := parse(t, held)
			object.Object["spec"] = map[string]any{"size": test.before}
			stored := c.Put(object)
			entry := recorded(stored, "manage", stored.GetUID())
			entry.PatchBeforeDelete = &runtime.RawExtension{Raw: []byte(`{"spec":{"size":9007199254740993}}`)}
			d := New(Plan{Cluster: c, Inventory: apply.Inventory{entry}, Owner: owner, Wake: func() {}})
			if _, err := d.Continue(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := c.Counts()["update"]; got != test.writes {
				t.Errorf("%d writes, want %d", got, test.writes)
			}
			if size := c.Find("ConfigMap", "ns", "a").Object["spec"].(map[string]any)["size"]; size != large {
				t.Errorf("the size is %v", size)
			}
		})
	}
}
