package helm

import (
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/release/common"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	apideployer "go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/helm/chart"
	"go.landscaper.dev/internal/deploy/helm/release"
	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/helm/storage"
)

var noon = time.Date(2031, 5, 4, 12, 0, 0, 0, time.UTC)

// word is a value that no message may repeat.
const word = "top-secret-word"

// TestSituationOf: what is known of a release, from its records alone.
func TestSituationOf(t *testing.T) {
	record := func(status common.Status, owner, digest string) *storage.Record {
		return &storage.Record{Revision: 1, Status: status, Owner: owner, Digest: digest, Written: noon.Add(-time.Minute)}
	}
	ours := storage.Marks{Owner: "me", Digest: "d"}
	tests := []struct {
		reason  string
		history []*storage.Record
		marks   storage.Marks
		want    release.Situation
	}{
		{"no release yet", nil, ours, release.Situation{}},
		{"a release of ours, as it is wanted", []*storage.Record{record(common.StatusDeployed, "me", "d")}, ours, release.Situation{Last: common.StatusDeployed, Deployed: true, Ours: true, Same: true, Age: time.Minute}},
		{"a release of ours, of another chart", []*storage.Record{record(common.StatusDeployed, "me", "old")}, ours, release.Situation{Last: common.StatusDeployed, Deployed: true, Ours: true, Age: time.Minute}},
		{"a release of another item, with the same chart", []*storage.Record{record(common.StatusDeployed, "other", "d")}, ours, release.Situation{Last: common.StatusDeployed, Deployed: true, Others: true, Age: time.Minute}},
		{"a revision of upstream or a person belongs to no item", []*storage.Record{record(common.StatusDeployed, "", "")}, ours, release.Situation{Last: common.StatusDeployed, Deployed: true, Age: time.Minute}},
		{"a failure after a success", []*storage.Record{record(common.StatusSuperseded, "me", "d"), record(common.StatusFailed, "me", "d")}, ours, release.Situation{Last: common.StatusFailed, Deployed: true, Ours: true, Same: true, Age: time.Minute}},
		{"nothing but failures", []*storage.Record{record(common.StatusFailed, "me", "d")}, ours, release.Situation{Last: common.StatusFailed, Ours: true, Same: true, Age: time.Minute}},
		{"an item without a UID owns nothing, not even a revision without an owner", []*storage.Record{record(common.StatusDeployed, "", "")}, storage.Marks{}, release.Situation{Last: common.StatusDeployed, Deployed: true, Age: time.Minute}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := situationOf(test.history, test.marks, noon); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

// TestBelongs: whose a release is, as far as the item and the record say.
func TestBelongs(t *testing.T) {
	item := &deployer.Item{DeployItem: &v1alpha1.DeployItem{}}
	item.UID = types.UID("me")
	for _, test := range []struct {
		reason, owner  string
		inStatus, want bool
	}{
		{"the record says so", "me", false, true},
		{"the record says another one, whatever the item says", "other", true, false},
		{"the record says nothing, and the item does", "", true, true},
		{"neither the record nor the item says so: the release may be foreign", "", false, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := belongs(&storage.Record{Owner: test.owner}, item, test.inStatus); got != test.want {
				t.Errorf("it belongs: %t", got)
			}
		})
	}
}

func withStatus(text string) *deployer.Item {
	item := &deployer.Item{DeployItem: &v1alpha1.DeployItem{}}
	if text != "" {
		item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(text)}
	}
	return item
}

// TestMayHaveRelease: a status without policies is one of a release; one without anything
// may be one of a release without workloads.
func TestMayHaveRelease(t *testing.T) {
	const managed, released = `{"policy":"manage","resource":{"kind":"A","name":"a"}}`, `{"resource":{"kind":"Deployment","name":"a"}}`
	for _, test := range []struct {
		reason, status            string
		inStatus, possible, fails bool
		recorded                  int
	}{
		{"nothing was deployed", "", false, false, false, 0},
		{"a release with a workload", `{"managedResources":[` + released + `]}`, true, true, false, 0},
		{"a release without workloads, or nothing", `{}`, false, true, false, 0},
		{"objects without a release", `{"managedResources":[` + managed + `]}`, false, false, false, 1},
		{"objects with and without a release, in the middle of a change from one to the other", `{"managedResources":[` + managed + `,` + released + `]}`, true, true, false, 1},
		{"a status that cannot be read", `{"managedResources":"` + word + `"}`, false, false, true, 0},
		{"a status that is no JSON", `{"` + word, false, false, true, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inStatus, possible, err := mayHaveRelease(withStatus(test.status))
			if inStatus != test.inStatus || possible != test.possible || (err != nil) != test.fails {
				t.Errorf("inStatus %t, possible %t, %v", inStatus, possible, err)
			}
			recorded, err := templates{}.Recorded(withStatus(test.status))
			if len(recorded) != test.recorded || (err != nil) != test.fails {
				t.Errorf("recorded %v, %v", recorded, err)
			}
			if err != nil && (strings.Contains(err.Error(), word) || !strings.Contains(err.Error(), "status.providerStatus")) {
				t.Errorf("it says %v", err)
			}
		})
	}
}

// TestLimits: an operation never has more time than the job, and who wants failures
// undone has less.
func TestLimits(t *testing.T) {
	parsed := func(text string) *v1alpha1.Duration {
		duration := &v1alpha1.Duration{}
		if err := duration.UnmarshalJSON([]byte(`"` + text + `"`)); err != nil {
			t.Fatal(err)
		}
		return duration
	}
	const minute = time.Minute
	for _, test := range []struct {
		reason    string
		options   deployOptions
		remaining time.Duration
		want      time.Duration
	}{
		{"the job has no limit, the operation neither", deployOptions{}, 0, 0},
		{"only the job has one", deployOptions{}, 8 * minute, 8 * minute},
		{"undoing needs a quarter", deployOptions{Atomic: true}, 8 * minute, 6 * minute},
		{"without a limit there is nothing to keep back", deployOptions{Atomic: true}, 0, 0},
		{"the operation has less time", deployOptions{Timeout: parsed("2m")}, 8 * minute, 2 * minute},
		{"the operation wants more than there is", deployOptions{Timeout: parsed("20m")}, 8 * minute, 8 * minute},
		{"the operation wants more than undoing leaves", deployOptions{Atomic: true, Timeout: parsed("7m")}, 8 * minute, 6 * minute},
		{"only the operation has one", deployOptions{Timeout: parsed("2m")}, 0, 2 * minute},
		{"no time at all means no limit of its own", deployOptions{Timeout: parsed("0s")}, 8 * minute, 8 * minute},
		{"a time below zero means no limit of its own", deployOptions{Timeout: parsed("-5m")}, 8 * minute, 8 * minute},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got, err := test.options.limit(test.remaining); got != test.want || err != nil {
				t.Errorf("%s, %v; want %s", got, err, test.want)
			}
		})
	}
}

// TestParse: an error of a configuration names field and type.
func TestParse(t *testing.T) {
	for _, test := range []struct{ reason, config, says string }{
		{"no JSON", "{", "spec.config"},
		{"a list", `["` + word + `"]`, "spec.config"},
		{"values that are a text", `{"apiVersion":"helm.deployer.landscaper.gardener.cloud/v1alpha1","kind":"ProviderConfiguration","values":"` + word + `"}`, "values must be a map"},
		{"a chart that is a text", `{"chart":"` + word + `"}`, "field chart must be a map, not string"},
		{"a choice that is a text", `{"helmDeployment":"` + word + `"}`, "field helmDeployment must be true or false, not string"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := parseConfig(&runtime.RawExtension{Raw: []byte(test.config)})
			if err == nil || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), word) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("no configuration", func(t *testing.T) {
		if _, err := parseConfig(nil); err == nil || !strings.Contains(err.Error(), "it is missing") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("values that are null count as unset", func(t *testing.T) {
		c, err := parseConfig(itemWith(t, head+"values: null").Spec.Configuration)
		if err != nil || len(c.values) != 0 || !c.release() {
			t.Errorf("%+v, %v", c, err)
		}
	})
	t.Run("large numbers in values stay whole", func(t *testing.T) {
		c, err := parseConfig(itemWith(t, head+"values: {id: 9007199254740993}").Spec.Configuration)
		if err != nil {
			t.Fatal(err)
		}
		other, err := parseConfig(itemWith(t, head+"values: {id: 9007199254740992}").Spec.Configuration)
		if err != nil {
			t.Fatal(err)
		}
		if (released{templates: templates{config: c}}).digest("d") == (released{templates: templates{config: other}}).digest("d") {
			t.Error("a change of the last digit is not seen")
		}
	})
}

// TestExportsOfBothLists: the older list stands behind the newer one, and each entry is of
// one kind.
func TestExportsOfBothLists(t *testing.T) {
	c, err := parseConfig(itemWith(t, head+`
exports: {watch: true, exports: [{key: a, jsonPath: .Values.a}, {key: b, jsonPath: .data.b, fromResource: {apiVersion: v1, kind: ConfigMap, name: x}}]}
exportsFromManifests: [{key: c, jsonPath: .data.c, fromResource: {apiVersion: v1, kind: ConfigMap, name: z}}, {key: d, jsonPath: .Values.d}]`).Spec.Configuration)
	if err != nil {
		t.Fatal(err)
	}
	keys := func(entries []apideployer.Export) string {
		var all []string
		for _, entry := range entries {
			all = append(all, entry.Key)
		}
		return strings.Join(all, " ")
	}
	for _, test := range []struct{ reason, got, want string }{
		{"all", keys(c.allExports()), "a b c d"},
		{"those of objects", keys(c.fromResources()), "b c"},
		{"those of values", keys(c.fromValues()), "a d"},
		{"asking for a part leaves the whole", keys(c.allExports()), "a b c d"},
		{"what the roll-out reads", keys(c.resourceExports().Exports), "b c"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if test.got != test.want {
				t.Errorf("%q, want %q", test.got, test.want)
			}
		})
	}
	if !c.resourceExports().Watch {
		t.Error("they are not watched")
	}
}

// TestEntries: what a chart makes without a release, besides its objects.
func TestEntries(t *testing.T) {
	const object = "# Source: shop/templates/a.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {helm.sh/resource-policy: %s}}\n"
	for _, test := range []struct {
		reason, manifest, definition string
		namespace                    bool
		want                         string
		fails                        string
	}{
		{"an object", strings.Replace(object, "%s", "x", 1), "", false, "manage ConfigMap here/a", ""},
		{"an object that is to stay", strings.Replace(object, "%s", "'Keep '", 1), "", false, "keep ConfigMap here/a", ""},
		{"the namespace of the release is created", strings.Replace(object, "%s", "x", 1), "", true, "manage ConfigMap here/a, keep Namespace /here", ""},
		{"a namespace that the chart has itself", "apiVersion: v1\nkind: Namespace\nmetadata: {name: here}\n", "", true, "manage Namespace here/here", ""},
		{"a definition of the folder crds", "", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: b}\n", false, "manage CustomResourceDefinition /b", ""},
		{"a document that is a list", "# Source: shop/templates/a.yaml\n[" + word + "]\n", "", false, "", "shop/templates/a.yaml: a document is not an object"},
		{"a definition that is a list", "", "[" + word + "]\n", false, "", "crds/b.yaml: a document is not an object"},
		{"a List with items that are a text", "apiVersion: v1\nkind: List\nitems: " + word + "\n", "", false, "", "items: it must be a list of objects"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c, err := parseConfig(itemWith(t, head).Spec.Configuration)
			if err != nil {
				t.Fatal(err)
			}
			c.CreateNamespace = test.namespace
			made := &render.Result{Sorted: render.Sorted{Manifest: test.manifest}}
			if test.definition != "" {
				made.Definitions = []render.File{{Name: "crds/b.yaml", Text: test.definition}}
			}
			entries, err := templates{config: c}.entries(made)
			if (err != nil) != (test.fails != "") || err != nil && (!strings.Contains(err.Error(), test.fails) || strings.Contains(err.Error(), word)) {
				t.Fatalf("got %v", err)
			}
			if got := describe(entries); err == nil && got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

func describe(entries []apply.Entry) string {
	var all []string
	for _, entry := range entries {
		all = append(all, string(entry.Policy)+" "+entry.Object.GetKind()+" "+entry.Object.GetNamespace()+"/"+entry.Object.GetName())
	}
	return strings.Join(all, ", ")
}

// TestStatusOfARelease: workloads alone, without what a release records itself.
func TestStatusOfARelease(t *testing.T) {
	object := func(apiVersion, kind, name string) apply.Entry {
		made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
		made.SetName(name)
		return apply.Entry{Object: made}
	}
	inventory := workloads([]apply.Entry{object("apps/v1", "Deployment", "a"), object("v1", "ConfigMap", "b"), object("apps/v1", "StatefulSet", "c")})
	inventory[0].Policy, inventory[0].Resource.UID = "manage", "uid"
	status := released{}.status(inventory)
	if len(status.ManagedResources) != 2 || status.ManagedResources[0].Policy != "" || status.ManagedResources[0].Resource.UID != "" || status.ManagedResources[1].Resource.Name != "c" {
		t.Errorf("%+v", status.ManagedResources)
	}
	if status.Kind != "ProviderStatus" || status.APIVersion != "helm.deployer.landscaper.gardener.cloud/v1alpha1" {
		t.Errorf("%+v", status.TypeMeta)
	}
}

// TestSettled: an item that waits for its objects holds no chart, however long that takes.
func TestSettled(t *testing.T) {
	for _, changed := range []bool{true, false} {
		w := &work{chart: &chart.Chart{Digest: "sha256:1"}}
		if w.settle(changed); w.chart != nil || !w.done || w.changed != changed {
			t.Errorf("changed %t: %+v", changed, w)
		}
	}
}
