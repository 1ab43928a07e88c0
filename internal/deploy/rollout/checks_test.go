package rollout

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/export"
	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/runtime/job"
)

func checks(t *testing.T, text string) []readiness.Custom {
	t.Helper()
	var specs []deployer.CustomReadinessCheckConfiguration
	if err := yaml.Unmarshal([]byte(text), &specs); err != nil {
		t.Fatal(err)
	}
	compiled, err := readiness.Compile(specs)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func exportsFrom(t *testing.T, text string) []export.Value {
	t.Helper()
	spec := &deployer.Exports{}
	if err := yaml.Unmarshal([]byte(text), spec); err != nil {
		t.Fatal(err)
	}
	values, err := export.Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	if values == nil {
		values = []export.Value{}
	}
	return values
}

const (
	checkHere  = `{name: here, resourceSelector: {apiVersion: v1, kind: ConfigMap, name: signal, namespace: ns}, requirements: [{jsonPath: .data.go, operator: exists}]}`
	checkThere = `{name: there, targetName: edge, labelSelector: {apiVersion: v1, kind: Pod, matchLabels: {app: web}}, requirements: [{jsonPath: .status.phase, operator: ==, values: [{value: Running}]}]}`
	signal     = `{apiVersion: v1, kind: ConfigMap, metadata: {name: signal, namespace: ns}, data: {go: "1"}}`
	running    = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns, labels: {app: web}}, status: {phase: Running}}`
)

// TestCustomChecks makes two checks one after the other, the second one on another
// cluster whose Target comes late.
func TestCustomChecks(t *testing.T) {
	cluster, edge, test := fakecluster.New(), fakecluster.New(), &testJob{clusters: map[string]target.Cluster{}}
	desiredState := wishFor(objects(t, configMap))
	desiredState.Checks = checks(t, "["+checkHere+","+checkThere+"]")
	r := start(t, test, cluster, desiredState, nil)
	mustWait(t, r, "ConfigMap ns/signal to become ready")
	cluster.Put(objects(t, signal)[0].Object)
	if _, err := r.Continue(t.Context()); !job.IsWaiting(err) || !strings.Contains(err.Error(), "Target edge does not exist") {
		t.Fatalf("error %v", err)
	}
	test.clusters["edge"] = edge
	mustWait(t, r, `Pod app=web on Target edge to become ready (check "there": no object has these labels yet)`)
	edge.Put(objects(t, running)[0].Object)
	mustEnd(t, r)
	if cluster.Watched()+edge.Watched() != 0 {
		t.Errorf("%d and %d watches are left", cluster.Watched(), edge.Watched())
	}
	want := []string{"test deployer: before readiness check", "test deployer: default readiness checks", "test deployer: custom readiness checks", "test deployer: custom readiness checks", "test deployer: custom readiness checks"}
	if diff := cmp.Diff(want, test.checkpoints[3:]); diff != "" {
		t.Errorf("checkpoints, -want +got\n%s", diff)
	}
}

func TestCustomCheckInTime(t *testing.T) {
	desiredState := wishFor(nil)
	desiredState.Checks = checks(t, "["+checkHere+"]")
	r := start(t, &testJob{expired: true}, fakecluster.New(), desiredState, nil)
	_, err := r.Continue(t.Context())
	var shown *jobError
	if !errors.As(err, &shown) || shown.Operation != "WaitForObjectsReady" || !strings.Contains(err.Error(), "resource ns/signal of type ConfigMap\": check \"here\": it does not exist yet") || job.OutcomeOf(err) != job.Terminal {
		t.Errorf("error %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestOwnLimits shows that a check and a value may have less time than the item, and that the end
// of that time triggers the item.
func TestOwnLimits(t *testing.T) {
	tests := []struct {
		reason string
		change func(*DesiredState)
		want   string
	}{
		{"a check", func(w *DesiredState) {
			w.Checks = checks(t, "["+strings.Replace(checkHere, "{name: here", "{timeout: 10ms, name: here", 1)+"]")
		}, "resource ns/signal of type ConfigMap"},
		{"a value", func(w *DesiredState) {
			w.Exports = exportsFrom(t, `{defaultTimeout: 10ms, exports: [{key: a, jsonPath: .data.x, fromResource: {apiVersion: v1, kind: ConfigMap, name: late, namespace: ns}}]}`)
		}, `timeout at: "deployer: during export - key: a": it waited for ConfigMap ns/late`},
		{"a value that an object does not have yet", func(w *DesiredState) {
			w.Objects = objects(t, configMap)
			w.Exports = exportsFrom(t, `{defaultTimeout: 10ms, exports: [{key: a, jsonPath: .data.token, fromResource: {apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}}]}`)
		}, `it waited for a value at .data.token of ConfigMap ns/a`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			desiredState := wishFor(nil)
			test.change(&desiredState)
			triggered := make(chan struct{}, 10)
			r, err := Begin(t.Context(), &wakingJob{triggered: triggered}, fakecluster.New(), desiredState, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Continue(t.Context()); err != nil {
				t.Fatal(err)
			}
			select {
			case <-triggered:
			case <-time.After(5 * time.Minute):
				t.Fatal("nothing was triggered")
			}
			if _, err := r.Continue(t.Context()); err == nil || !strings.Contains(err.Error(), test.want) || job.OutcomeOf(err) != job.Terminal {
				t.Errorf("error %v, want %q", err, test.want)
			}
			_ = r.Close()
		})
	}
}

// wakingJob records when it was triggered.
type wakingJob struct {
	testJob
	triggered chan struct{}
}

func (j *wakingJob) Requeue() { j.triggered <- struct{}{} }

func TestExports(t *testing.T) {
	here := `{key: a.x, jsonPath: .data.x, fromResource: {apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}}`
	there := `{key: a.s, targetName: edge, jsonPath: .data.p, fromResource: {apiVersion: v1, kind: Secret, name: s, namespace: ns}}`
	cluster, edge := fakecluster.New(), fakecluster.New()
	test := &testJob{clusters: map[string]target.Cluster{"edge": edge}}
	desiredState := wishFor(objects(t, configMap))
	desiredState.Exports = exportsFrom(t, "exports: ["+here+","+there+"]")
	r := start(t, test, cluster, desiredState, nil)
	mustWait(t, r, "Secret ns/s on Target edge, to export a.s")
	if len(test.exported) != 0 {
		t.Errorf("exported before everything was there: %v", test.exported)
	}
	edge.Put(objects(t, `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: ns}, data: {p: d29yZA==}}`)[0].Object)
	mustEnd(t, r)
	want := []map[string]any{{"a": map[string]any{"x": "1", "s": "d29yZA=="}}}
	if diff := cmp.Diff(want, test.exported); diff != "" {
		t.Errorf("exported, -want +got\n%s", diff)
	}
	if cluster.Watched()+edge.Watched() != 0 {
		t.Errorf("%d and %d watches are left", cluster.Watched(), edge.Watched())
	}
}

func TestExportsStored(t *testing.T) {
	tests := []struct {
		reason  string
		exports []export.Value
		want    []map[string]any
	}{
		{"no configuration removes earlier exports", nil, []map[string]any{nil}},
		{"a configuration without values hands an empty map on", []export.Value{}, []map[string]any{{}}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			j := &testJob{}
			desiredState := wishFor(nil)
			desiredState.Exports = test.exports
			mustEnd(t, start(t, j, fakecluster.New(), desiredState, nil))
			if diff := cmp.Diff(test.want, j.exported); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	refused := errors.New("forbidden")
	j := &testJob{stop: map[string]error{"export": refused}}
	r := start(t, j, fakecluster.New(), wishFor(nil), nil)
	if _, err := r.Continue(t.Context()); !errors.Is(err, refused) {
		t.Errorf("error %v", err)
	}
	j.stop = nil
	mustEnd(t, r)
	if len(j.exported) != 2 {
		t.Errorf("exported %d times", len(j.exported))
	}
}

func TestExportInTime(t *testing.T) {
	desiredState := wishFor(nil)
	desiredState.Exports = exportsFrom(t, "exports: [{key: a, jsonPath: .data.x, fromResource: {apiVersion: v1, kind: ConfigMap, name: late, namespace: ns}}]")
	_, err := start(t, &testJob{expired: true}, fakecluster.New(), desiredState, nil).Continue(t.Context())
	var shown *jobError
	if !errors.As(err, &shown) || shown.Operation != "ReconcileManifests" || shown.Reason != "ReadExportValues" || !strings.Contains(err.Error(), `timeout at: "deployer: during export - key: a": it waited for ConfigMap ns/late`) {
		t.Errorf("error %v", err)
	}
	var cause *jobError
	if !errors.As(shown.Cause, &cause) || cause.Operation != "Export" || cause.Reason != "ProgressingTimeout" {
		t.Errorf("cause %+v", cause)
	}
	stop := errors.New("interrupted")
	_, err = start(t, &testJob{stop: map[string]error{"deployer: during export - key: a": stop}}, fakecluster.New(), desiredState, nil).Continue(t.Context())
	if !errors.Is(err, stop) {
		t.Errorf("it continued: %v", err)
	}
}

// wideObject has 500,000 places.
func wideObject() *unstructured.Unstructured {
	list := make([]any, 500_000)
	for i := range list {
		list[i] = "x"
	}
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "wide", "namespace": "ns"}, "list": list}}
}

// TestManyWidePaths: each path of an item may search a large object, but not as many as there can be. Paths
// that name fields are not counted.
func TestManyWidePaths(t *testing.T) {
	const object = "{apiVersion: v1, kind: ConfigMap, name: wide, namespace: ns}"
	exports := func(path string, count int) DesiredState {
		desired := wishFor(nil)
		entry := fmt.Sprintf("- {key: a, jsonPath: '%s', fromResource: %s}\n", path, object)
		desired.Exports = exportsFrom(t, "exports:\n"+strings.Repeat(entry, count))
		return desired
	}
	requirements := func(path string, count int) DesiredState {
		desired := wishFor(nil)
		entry := fmt.Sprintf("- {jsonPath: '%s', operator: exists}\n", path)
		desired.Checks = checks(t, "- name: wide\n  resourceSelector: "+object+"\n  requirements:\n  "+strings.ReplaceAll(strings.Repeat(entry, count), "\n", "\n  "))
		return desired
	}
	for _, test := range []struct {
		reason  string
		desired DesiredState
		refused bool
	}{
		{"some exports by wide paths", exports(".list[0:1]", 3), false},
		{"many of them", exports(".list[0:1]", 30), true},
		{"many by names of fields", exports(".metadata.name", 30), false},
		{"some requirements by wide paths", requirements(".list[0:1]", 3), false},
		{"many of these", requirements(".list[0:1]", 30), true},
		{"many requirements by names of fields", requirements(".metadata.name", 30), false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			cluster.Put(wideObject())
			waiting, err := start(t, &testJob{}, cluster, test.desired, nil).Continue(t.Context())
			refused := err != nil && strings.Contains(err.Error(), "more than 10000000 places")
			if refused != test.refused || len(waiting) > 0 || !refused && err != nil {
				t.Errorf("it waits for %v, error %v", waiting, err)
			}
			if refused && job.OutcomeOf(err) != job.Terminal {
				t.Errorf("it is tried again: %v", err)
			}
		})
	}
	cluster := fakecluster.New()
	cluster.Put(wideObject())
	eyes, err := watchExports(t.Context(), &testJob{}, cluster, exports(".list[0:1]", 30))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eyes.Values(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 10000000 places") {
		t.Errorf("exports that are watched: %v", err)
	}
	if err := eyes.Close(); err != nil {
		t.Error(err)
	}
}

// TestEndBetweenPaths: what a watch knows costs no request that would notice the end of the job.
func TestEndBetweenPaths(t *testing.T) {
	const object = "{apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}"
	exporting, checking := wishFor(nil), wishFor(nil)
	exporting.Exports = exportsFrom(t, "exports: [{key: a, jsonPath: .missing, fromResource: "+object+"}]")
	checking.Checks = checks(t, "[{name: c, resourceSelector: "+object+", requirements: [{jsonPath: .missing, operator: exists}]}]")
	for reason, desired := range map[string]DesiredState{"an export": exporting, "a check": checking} {
		t.Run(reason, func(t *testing.T) {
			cluster := fakecluster.New()
			cluster.Put(objects(t, configMap)[0].Object)
			r := start(t, &testJob{}, cluster, desired, nil)
			mustWait(t, r, "ConfigMap ns/a")
			cluster.Counts()
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if _, err := r.Continue(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("it goes on: %v", err)
			}
			if got := cluster.Counts(); len(got) != 0 {
				t.Errorf("requests %v", got)
			}
		})
	}
}
