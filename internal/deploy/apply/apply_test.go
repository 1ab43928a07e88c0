package apply

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/runtime/job"
)

const itemLabel = "test.example/deployitem"

func applier(cluster *fakecluster.Cluster, strategy deployer.UpdateStrategy) *Applier {
	return &Applier{Target: cluster, Strategy: strategy, Labels: map[string]string{itemLabel: "item"}, OwnerLabel: itemLabel, FieldManager: "test"}
}

// prepared returns an object with its place on the cluster.
func prepared(t *testing.T, cluster *fakecluster.Cluster, policy deployer.ManifestPolicy, known Inventory, text string) Object {
	t.Helper()
	objects, err := Prepare(t.Context(), cluster, []Entry{{Position: "manifests[0].manifest", Policy: policy, Object: parse(t, text)}}, known)
	if err != nil {
		t.Fatal(err)
	}
	return objects[0]
}

func TestTreat(t *testing.T) {
	live := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"1"}}`
	other := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"x":"2"}}`
	ending := `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","deletionTimestamp":"2026-01-01T00:00:00Z"},"data":{"x":"1"}}`
	tests := []struct {
		reason        string
		policy        deployer.ManifestPolicy
		owned         bool
		live, desired string
		want          treatment
	}{
		{"an object that is as it should be", "manage", true, live, live, leave},
		{"an object that differs", "manage", true, live, other, write},
		{"manage takes over an object of another owner", "manage", false, live, other, write},
		{"keep is about deletions only", "keep", false, live, other, write},
		{"immutable leaves everything", "immutable", true, live, other, leave},
		{"fallback changes what is ours", "fallback", true, live, other, write},
		{"fallback leaves what is ours and right", "fallback", true, live, live, leave},
		{"fallback leaves what is not ours", "fallback", false, live, other, leaveForeign},
		{"fallback leaves a foreign object, also if it is right by chance", "fallback", false, live, live, leaveForeign},
		{"a change of an object that is being deleted would be lost", "manage", true, ending, other, await},
		{"an object that is being deleted is awaited, also without a change: it will not exist", "manage", true, ending, ending, await},
		{"an immutable object that is being deleted is awaited", "immutable", true, ending, other, await},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := treat(test.policy, test.owned, parse(t, test.live), parse(t, test.desired)); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestApply(t *testing.T) {
	const manifest = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"data":{"x":"1"}}`
	recorded := Inventory{{Policy: "manage"}}
	recorded[0].Resource.APIVersion, recorded[0].Resource.Kind, recorded[0].Resource.Namespace, recorded[0].Resource.Name = "v1", "ConfigMap", "ns", "a"
	tests := []struct {
		reason   string
		live     string
		known    Inventory
		strategy deployer.UpdateStrategy
		policy   deployer.ManifestPolicy
		requests map[string]int
		data     map[string]any
	}{
		{"what is new costs one request", "", nil, "update", "manage", map[string]int{"create": 1}, map[string]any{"x": "1"}},
		{"what is known is looked at first", "", recorded, "update", "manage", map[string]int{"get": 1, "create": 1}, map[string]any{"x": "1"}},
		{"what exists unexpectedly is looked at then", `{"x":"0"}`, nil, "update", "manage", map[string]int{"create": 1, "get": 1, "update": 1}, map[string]any{"x": "1"}},
		{"a change", `{"x":"0","y":"0"}`, recorded, "update", "manage", map[string]int{"get": 1, "update": 1}, map[string]any{"x": "1"}},
		{"a change as difference", `{"x":"0","y":"0"}`, recorded, "patch", "manage", map[string]int{"get": 1, "patch": 1}, map[string]any{"x": "1"}},
		{"a merge keeps what is there", `{"x":"0","y":"0"}`, recorded, "merge", "manage", map[string]int{"get": 1, "update": 1}, map[string]any{"x": "0", "y": "0"}},
		{"a merge that overwrites", `{"x":"0","y":"0"}`, recorded, "mergeOverwrite", "manage", map[string]int{"get": 1, "update": 1}, map[string]any{"x": "1", "y": "0"}},
		{"what may not be changed", `{"x":"0"}`, recorded, "update", "immutable", map[string]int{"get": 1}, map[string]any{"x": "0"}},
		{"what is not ours", `{"x":"0"}`, nil, "update", "fallback", map[string]int{"create": 1, "get": 1}, map[string]any{"x": "0"}},
		{"what is left alone costs nothing", `{"x":"0"}`, nil, "update", "ignore", map[string]int{}, map[string]any{"x": "0"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			if test.live != "" {
				cluster.Put(parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"data":`+test.live+`}`))
			}
			outcome, err := applier(cluster, test.strategy).Apply(t.Context(), prepared(t, cluster, test.policy, test.known, manifest))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.requests, cluster.Counts()); diff != "" {
				t.Errorf("requests, -want +got\n%s", diff)
			}
			stored := cluster.Find("ConfigMap", "ns", "a")
			if diff := cmp.Diff(test.data, stored.Object["data"]); diff != "" {
				t.Errorf("data, -want +got\n%s", diff)
			}
			if outcome.Stored != nil && outcome.Stored.GetUID() != stored.GetUID() {
				t.Errorf("the outcome is another object: %v", outcome.Stored)
			}
			if foreign := test.policy == "fallback"; outcome.Foreign != foreign {
				t.Errorf("foreign: %t", outcome.Foreign)
			}
		})
	}
}

func TestApplyTwiceWritesOnce(t *testing.T) {
	for _, strategy := range []deployer.UpdateStrategy{"update", "patch", "merge", "mergeOverwrite"} {
		t.Run(string(strategy), func(t *testing.T) {
			cluster := fakecluster.New()
			object := prepared(t, cluster, "manage", nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"data":{"x":"1"}}`)
			if _, err := applier(cluster, strategy).Apply(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			cluster.Counts()
			object.Known = true
			if _, err := applier(cluster, strategy).Apply(t.Context(), object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]int{"get": 1}, cluster.Counts()); diff != "" {
				t.Errorf("requests, -want +got\n%s", diff)
			}
		})
	}
}

func TestApplyUnderTrouble(t *testing.T) {
	const manifest = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"data":{"x":"1"}}`
	lost := errors.New("no answer")
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "a", errors.New("raced"))
	tests := []struct {
		reason string
		live   bool
		verb   string
		times  int
		fault  fakecluster.Fault
		want   error
		writes int
	}{
		{"a conflict is retried", true, "update", 1, fakecluster.Fault{Before: conflict}, nil, 2},
		{"a second conflict is retried", true, "update", 2, fakecluster.Fault{Before: conflict}, nil, 3},
		{"conflicts are not retried without end", true, "update", 100, fakecluster.Fault{Before: conflict}, conflict, attempts},
		{"an answer that is lost is an error", false, "create", 1, fakecluster.Fault{After: lost}, lost, 1},
		{"a failure is an error at once", true, "update", 100, fakecluster.Fault{Before: lost}, lost, 1},
		{"what cannot be read is an error", true, "get", 100, fakecluster.Fault{Before: lost}, lost, 1},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			if test.live {
				cluster.Put(parse(t, strings.ReplaceAll(manifest, `"1"`, `"0"`)))
			}
			object := prepared(t, cluster, "manage", nil, manifest)
			object.Known = test.live
			left := test.times
			cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
				if request.Verb != test.verb || left == 0 {
					return fakecluster.Fault{}
				}
				left--
				return test.fault
			}
			_, err := applier(cluster, "update").Apply(t.Context(), object)
			if !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
			if got := cluster.Counts()[test.verb]; got != test.writes {
				t.Errorf("%d requests to %s, want %d", got, test.verb, test.writes)
			}
			var shown *job.Error
			if err != nil && (!errors.As(err, &shown) || shown.Operation != "ApplyObjects" || !strings.HasPrefix(err.Error(), "apply ConfigMap ns/a: ")) {
				t.Errorf("the error does not say what it is about: %v", err)
			}
		})
	}
}

func TestTerminating(t *testing.T) {
	cluster := fakecluster.New()
	cluster.Put(parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","finalizers":["x/y"],"deletionTimestamp":"2026-01-01T00:00:00Z"}}`))
	_, err := applier(cluster, "update").Apply(t.Context(), prepared(t, cluster, "manage", nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"}}`))
	var terminating *Terminating
	if !errors.As(err, &terminating) || terminating.Left.GetName() != "a" || !strings.Contains(err.Error(), "is being deleted") {
		t.Errorf("error %v", err)
	}
}

func TestPrepare(t *testing.T) {
	const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"x"},"spec":{"group":"acme.example","scope":"SCOPE","names":{"kind":"Tenant","plural":"tenants"},"versions":[{"name":"v1"}]}}`
	const tenant = `{"apiVersion":"acme.example/v1","kind":"Tenant","metadata":{"name":"blue","namespace":"ns"}}`
	tests := []struct {
		reason    string
		objects   []string
		stage     Stage
		namespace string
	}{
		{"a definition", []string{strings.ReplaceAll(definition, "SCOPE", "Cluster")}, StageDefinitions, ""},
		{"a namespace is removed from a cluster-scoped object", []string{`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns","namespace":"other"}}`}, StageCluster, ""},
		{"an object in a namespace", []string{`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"}}`}, StageNamespaced, "ns"},
		{"the item itself says where its kinds live", []string{tenant, strings.ReplaceAll(definition, "SCOPE", "Cluster")}, StageCluster, ""},
		{"in a namespace", []string{tenant, strings.ReplaceAll(definition, "SCOPE", "Namespaced")}, StageNamespaced, "ns"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			var entries []Entry
			for _, object := range test.objects {
				entries = append(entries, Entry{Object: parse(t, object)})
			}
			objects, err := Prepare(t.Context(), fakecluster.New(), entries, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := objects[0]; got.Stage() != test.stage || got.Object.GetNamespace() != test.namespace {
				t.Errorf("stage %d, namespace %q", got.Stage(), got.Object.GetNamespace())
			}
		})
	}
	_, err := Prepare(t.Context(), fakecluster.New(), []Entry{{Position: "manifests[3].manifest", Object: parse(t, tenant)}}, nil)
	if !IsUnknownKind(err) || !strings.Contains(err.Error(), "manifests[3].manifest (Tenant ns/blue): the cluster at https://memory.example does not know kind Tenant in acme.example/v1: install its CustomResourceDefinition") {
		t.Errorf("error %v", err)
	}
	if job.OutcomeOf(err) != job.Transient {
		t.Error("kinds may come later")
	}
}

func TestKnownObjects(t *testing.T) {
	recorded := Inventory{{}}
	recorded[0].Resource.APIVersion, recorded[0].Resource.Kind, recorded[0].Resource.Namespace, recorded[0].Resource.Name = "apps/v1beta1", "Deployment", "ns", "a"
	tests := []struct {
		reason, object string
		want           bool
	}{
		{"the API version does not count", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"ns"}}`, true},
		{"the name counts", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"b","namespace":"ns"}}`, false},
		{"the namespace counts", `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a","namespace":"other"}}`, false},
		{"the kind counts", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"ns"}}`, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := prepared(t, fakecluster.New(), "manage", recorded, test.object).Known; got != test.want {
				t.Errorf("known: %t", got)
			}
		})
	}
}

func TestWithLabels(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": "1", "b": "1"}}}}
	labelled := withLabels(object, map[string]string{"b": "2", "c": "2"})
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "2", "c": "2"}, labelled.GetLabels()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if object.GetLabels()["b"] != "1" {
		t.Error("the manifest itself was changed")
	}
}
