package rollout

import (
	"errors"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/deletion"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

func groups(t *testing.T, text string) []deletion.Group {
	t.Helper()
	var definitions []deployer.DeletionGroupDefinition
	if err := yaml.Unmarshal([]byte(text), &definitions); err != nil {
		t.Fatal(err)
	}
	compiled, err := deletion.Compile(definitions, nil)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// TestSecondTargetsAreNamed: what is waited for or fails on the cluster of a second Target
// names that Target, the check and the namespace: a reader would look on the first one.
func TestSecondTargetsAreNamed(t *testing.T) {
	const (
		check   = `[{name: there, targetName: edge, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: signal, namespace: far}], requirements: [{jsonPath: .data.go, operator: exists}]}]`
		value   = `exports: [{key: k, targetName: edge, jsonPath: .data.x, fromResource: {apiVersion: v1, kind: ConfigMap, name: late, namespace: far}}]`
		removal = `[{customResourceGroup: {targetName: edge, deleteAllResources: true, resources: [{apiVersion: v1, kind: ConfigMap}]}}]`
		guarded = `{apiVersion: v1, kind: ConfigMap, metadata: {name: guarded, namespace: far, finalizers: [acme.example/guard]}}`
		empty   = `{apiVersion: v1, kind: ConfigMap, metadata: {name: late, namespace: far}}`
	)
	refused := errors.New("the API server answers Forbidden (403)")
	for _, row := range []struct {
		reason, checks, exports, removal string
		// there is an object of the second cluster, fault how that answers.
		there   string
		fault   error
		expired bool
		want    string
	}{
		{reason: "a check waits", checks: check, want: `ConfigMap far/signal on Target edge to become ready (check "there": it does not exist yet)`},
		{reason: "a check waits for the object that is there", checks: check, there: strings.Replace(empty, "late", "signal", 1), want: `ConfigMap far/signal on Target edge to become ready (check "there": field .data.go does not exist yet)`},
		{reason: "a check is over time", checks: check, expired: true, want: `resource far/signal of type ConfigMap": it on Target edge is not ready: check "there": it does not exist yet`},
		{reason: "a check is refused", checks: check, fault: refused, want: `readiness check "there": look at ConfigMap far/signal on Target edge: the API server answers Forbidden (403)`},
		{reason: "a check of a kind that is not there", checks: strings.ReplaceAll(check, "apiVersion: v1", "apiVersion: acme.example/v1"), want: `readiness check "there": find kind ConfigMap on Target edge`},
		{reason: "a check without a namespace", checks: strings.Replace(check, ", namespace: far", "", 1), want: `ConfigMap signal on Target edge to become ready (check "there": it does not exist: the check names no namespace for it)`},
		{reason: "an export waits", exports: value, want: "ConfigMap far/late on Target edge, to export k"},
		{reason: "an export waits for a value", exports: value, there: empty, want: "a value at .data.x of ConfigMap far/late on Target edge, to export k"},
		{reason: "an export is over time", exports: value, expired: true, want: `timeout at: "deployer: during export - key: k": it waited for ConfigMap far/late on Target edge`},
		{reason: "an export is refused", exports: value, fault: refused, want: "export k: read ConfigMap far/late on Target edge: the API server answers Forbidden (403)"},
		{reason: "an export of a kind that is not there", exports: strings.ReplaceAll(value, "apiVersion: v1", "apiVersion: acme.example/v1"), want: "export k: find kind ConfigMap on Target edge"},
		{reason: "an export without a namespace", exports: strings.Replace(value, ", namespace: far", "", 1), want: "ConfigMap late on Target edge, for which fromResource names no namespace, to export k"},
		{reason: "a deletion waits", removal: removal, there: guarded, want: "the end of ConfigMap far/guarded on Target edge (finalizer acme.example/guard)"},
		{reason: "a deletion cannot list", removal: removal, fault: refused, want: "list ConfigMap on Target edge to delete all: the API server answers Forbidden (403)"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			edge, test := fakecluster.New(), &testJob{expired: row.expired}
			test.clusters = map[string]target.Cluster{"edge": edge}
			if row.there != "" {
				edge.Put(objects(t, row.there)[0].Object)
			}
			if row.fault != nil {
				edge.Fault = func(fakecluster.Request) fakecluster.Fault { return fakecluster.Fault{Before: row.fault} }
			}
			var begun work
			var err error
			if row.removal != "" {
				begun, err = BeginRemoval(t.Context(), test, fakecluster.New(), Teardown{Name: "test deployer", Groups: groups(t, row.removal)}, apply.Inventory{})
			} else {
				desiredState := wishFor(nil)
				if row.checks != "" {
					desiredState.Checks = checks(t, row.checks)
				}
				if row.exports != "" {
					desiredState.Exports = exportsFrom(t, row.exports)
				}
				begun, err = Begin(t.Context(), test, fakecluster.New(), desiredState, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			waiting, err := begun.Continue(t.Context())
			got := strings.Join(waiting, ", ")
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, row.want) {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
