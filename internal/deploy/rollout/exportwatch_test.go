package rollout

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"go.landscaper.dev/internal/deploy/target"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

const (
	database = `{apiVersion: v1, kind: ConfigMap, metadata: {name: database, namespace: ns}, data: {host: a}}`
	moved    = `{apiVersion: v1, kind: ConfigMap, metadata: {name: database, namespace: ns}, data: {host: b}}`
	nowhere  = `{apiVersion: v1, kind: ConfigMap, metadata: {name: database, namespace: ns}, data: {}}`
	pointing = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}, status: {login: {name: first}}}`
	turned   = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: ns}, status: {login: {name: second}}}`
	first    = `{apiVersion: v1, kind: Secret, metadata: {name: first, namespace: ns}, data: {p: MQ==}}`
	second   = `{apiVersion: v1, kind: Secret, metadata: {name: second, namespace: ns}, data: {p: Mg==}}`
)

// TestExportWatcher sees changes of values on two clusters, behind a second hop as well, and
// reads only when an object has changed.
func TestExportWatcher(t *testing.T) {
	cluster, edge := fakecluster.New(), fakecluster.New()
	test := &testJob{clusters: map[string]target.Cluster{"edge": edge}}
	for _, text := range []string{pointing, first, second} {
		edge.Put(objects(t, text)[0].Object)
	}
	cluster.Put(objects(t, database)[0].Object)
	values := exportsFrom(t, `exports:
- {key: host, jsonPath: .data.host, fromResource: {apiVersion: v1, kind: ConfigMap, name: database, namespace: ns}}
- {key: password, targetName: edge, jsonPath: .status.login, fromResource: {apiVersion: v1, kind: Pod, name: p, namespace: ns}, fromObjectRef: {apiVersion: v1, kind: Secret, jsonPath: .data.p}}`)
	eyes, err := watchExports(t.Context(), test, cluster, DesiredState{Exports: values})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(what string, want map[string]any) {
		t.Helper()
		got, err := eyes.Values(t.Context())
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v, -want +got\n%s", what, err, diff)
		}
	}
	expect("in the beginning", map[string]any{"host": "a", "password": "MQ=="})
	// The second object is known only now; to look at it once more costs little.
	if _, err := eyes.Values(t.Context()); err != nil {
		t.Fatal(err)
	}
	cluster.Counts()
	expect("no news", nil)
	if got := cluster.Counts(); len(got) != 0 {
		t.Errorf("requests without a change: %v", got)
	}
	before := test.wakes
	cluster.Put(objects(t, moved)[0].Object)
	if test.wakes == before {
		t.Error("nothing was triggered")
	}
	expect("another value", map[string]any{"host": "b", "password": "MQ=="})
	edge.Put(objects(t, turned)[0].Object)
	expect("another reference", map[string]any{"host": "b", "password": "Mg=="})
	before = test.wakes
	edge.Put(objects(t, second)[0].Object)
	if test.wakes == before {
		t.Error("the object behind the reference is not watched")
	}
	cluster.Put(objects(t, nowhere)[0].Object)
	expect("a value that is deleted", nil)
	cluster.Remove("ConfigMap", "ns", "database")
	expect("an object that is deleted", nil)
	cluster.Put(objects(t, database)[0].Object)
	expect("it is back", map[string]any{"host": "a", "password": "Mg=="})
	cluster.NoWatch = errors.New("forbidden")
	if _, err := eyes.Values(t.Context()); !errors.Is(err, cluster.NoWatch) {
		t.Errorf("error %v", err)
	}
	if err := eyes.Close(); err != nil || cluster.Watched()+edge.Watched() != 0 {
		t.Errorf("error %v, %d and %d watches are left", err, cluster.Watched(), edge.Watched())
	}
}

// TestExportWatcherThatCannotBegin leaves no watch behind.
func TestExportWatcherThatCannotBegin(t *testing.T) {
	here := `{key: a, jsonPath: .data.host, fromResource: {apiVersion: v1, kind: ConfigMap, name: database, namespace: ns}}`
	for reason, other := range map[string]string{
		"a Target that is missing": `{key: b, targetName: edge, jsonPath: .a, fromResource: {apiVersion: v1, kind: Pod, name: p, namespace: ns}}`,
		"a kind that is not known": `{key: b, jsonPath: .a, fromResource: {apiVersion: acme.example/v1, kind: Unknown, name: p, namespace: ns}}`,
	} {
		t.Run(reason, func(t *testing.T) {
			cluster := fakecluster.New()
			if _, err := watchExports(t.Context(), &testJob{}, cluster, DesiredState{Exports: exportsFrom(t, "exports: ["+here+","+other+"]")}); err == nil || cluster.Watched() != 0 {
				t.Errorf("%s: error %v, %d watches are left", reason, err, cluster.Watched())
			}
		})
	}
}
