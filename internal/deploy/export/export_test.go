package export

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(content, &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

func compileText(t *testing.T, text string) ([]Value, error) {
	t.Helper()
	spec := &deployer.Exports{}
	if err := yaml.Unmarshal([]byte(text), spec); err != nil {
		t.Fatal(err)
	}
	return Compile(spec)
}

// one returns the only value of a configuration.
func one(t *testing.T, text string) Value {
	t.Helper()
	values, err := compileText(t, "exports: ["+text+"]")
	if err != nil {
		t.Fatal(err)
	}
	return values[0]
}

func TestCompile(t *testing.T) {
	const from = "fromResource: {apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}"
	tests := []struct{ reason, config, want string }{
		{"everything is there", "{key: a.b, jsonPath: .data.x, targetName: edge, timeout: 10s, " + from + ", fromObjectRef: {apiVersion: v1, kind: Secret, jsonPath: .data.y}}", ""},
		{"no key", "{jsonPath: .data.x, " + from + "}", "exports.exports[0]: key: it is missing"},
		{"a key with brackets", "{key: 'a[0]', jsonPath: .data.x, " + from + "}", "key: it is a path of names"},
		{"no path", "{key: a, " + from + "}", "jsonPath: it is empty"},
		{"two paths", "{key: a, jsonPath: .a .b, " + from + "}", "jsonPath: it has two paths"},
		{"no object", "{key: a, jsonPath: .data.x}", "fromResource is missing: name the object that has the value"},
		{"an object without a name", "{key: a, jsonPath: .data.x, fromResource: {apiVersion: v1, kind: ConfigMap}}", "fromResource must have apiVersion, kind and name"},
		{"a further object without a kind", "{key: a, jsonPath: .x, " + from + ", fromObjectRef: {apiVersion: v1, jsonPath: .x}}", "fromObjectRef must have apiVersion and kind"},
		{"a further object without a path", "{key: a, jsonPath: .x, " + from + ", fromObjectRef: {apiVersion: v1, kind: Secret}}", "fromObjectRef.jsonPath: it is empty"},
		{"a timeout that is not valid", "{key: a, jsonPath: .x, timeout: soon, " + from + "}", "timeout"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, err := compileText(t, "exports: ["+test.config+"]")
			if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	values, err := compileText(t, "{defaultTimeout: 1m, exports: [{key: a, jsonPath: .x, "+from+"}, {key: b, jsonPath: .x, timeout: 2s, "+from+"}]}")
	if err != nil || values[0].Timeout != time.Minute || values[1].Timeout != 2*time.Second {
		t.Errorf("the limit of a value wins over that of all: %v, error %v", values, err)
	}
	if values, err := Compile(nil); values != nil || err != nil {
		t.Errorf("no exports: %v, error %v", values, err)
	}
}

const source = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}, data: {text: word, ref: {name: b}}, spec: {n: 7, f: 1.5, t: true, z: null, l: [1, x], m: {k: v}}}`

func TestTypes(t *testing.T) {
	tests := []struct{ reason, path, want string }{
		{"a text", ".data.text", `"word"`},
		{"a number", ".spec.i", `7`},
		{"a broken number", ".spec.f", `1.5`},
		{"a truth", ".spec.t", `true`},
		{"null", ".spec.z", `null`},
		{"a list", ".spec.l", `[1,"x"]`},
		{"a map", ".spec.m", `{"k":"v"}`},
		{"the first of several", ".spec.l[*]", `1`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			cluster.Put(parse(t, strings.ReplaceAll(source, "{n: 7", "{i: 7")))
			value := one(t, "{key: x.y, jsonPath: '"+test.path+"', fromResource: {apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}}")
			reading := value.Begin(cluster, func() {})
			if missing, err := reading.Look(t.Context()); err != nil || missing != "" {
				t.Fatalf("missing %q, error %v", missing, err)
			}
			exports := map[string]any{}
			reading.Value().Put(exports, reading.Result())
			got, err := json.Marshal(exports)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(`{"x":{"y":`+test.want+`}}`, string(got)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if diff := cmp.Diff(map[string]int{"get": 1}, cluster.Counts()); diff != "" {
				t.Errorf("requests, -want +got\n%s", diff)
			}
		})
	}
}

// TestWaiting lets the object, the field, the reference and the further object come
// one after the other, and counts: there is one look and one watch for each object.
func TestWaiting(t *testing.T) {
	cluster, wakes := fakecluster.New(), 0
	value := one(t, "{key: x, jsonPath: .status.ref, fromResource: {apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}, fromObjectRef: {apiVersion: v1, kind: Secret, jsonPath: .data.p}}")
	reading := value.Begin(cluster, func() { wakes++ })
	steps := []struct{ object, missing string }{
		{"", "ConfigMap ns/a"},
		{`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}`, "a value at .status.ref of ConfigMap ns/a"},
		{`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}, status: {ref: word}}`, "a reference with a name at .status.ref of ConfigMap ns/a"},
		{`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}, status: {ref: {namespace: ns}}}`, "a reference with a name at .status.ref of ConfigMap ns/a"},
		{`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}, status: {ref: {name: old}}}`, "Secret ns/old"},
		{`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}, status: {ref: {name: b}}}`, "Secret ns/b"},
		{`{apiVersion: v1, kind: Secret, metadata: {name: b, namespace: ns}}`, "a value at .data.p of Secret ns/b"},
		{`{apiVersion: v1, kind: Secret, metadata: {name: b, namespace: ns}, data: {p: word}}`, ""},
	}
	for i, step := range steps {
		before := wakes
		if step.object != "" {
			cluster.Put(parse(t, step.object))
			if wakes == before {
				t.Errorf("step %d: nothing was triggered", i)
			}
		}
		for range 2 {
			missing, err := reading.Look(t.Context())
			if err != nil || missing != step.missing {
				t.Fatalf("step %d: missing %q, error %v, want %q", i, missing, err, step.missing)
			}
		}
	}
	if reading.Result() != "word" {
		t.Errorf("the value is %v", reading.Result())
	}
	if got := cluster.Counts(); got["get"] != 3 || got["watch"] != 3 {
		t.Errorf("requests %v: one look and one watch for each object", got)
	}
	if cluster.Watched() != 0 {
		t.Errorf("%d watches are left", cluster.Watched())
	}
}

func TestPlaceOf(t *testing.T) {
	tests := []struct {
		reason    string
		reference any
		want      place
		ok        bool
	}{
		{"a name; the namespace is that of the first object", map[string]any{"name": "b"}, place{"ns", "b"}, true},
		{"a name and a namespace", map[string]any{"name": "b", "namespace": "other"}, place{"other", "b"}, true},
		{"an empty namespace counts as unset", map[string]any{"name": "b", "namespace": ""}, place{"ns", "b"}, true},
		{"no name", map[string]any{"namespace": "other"}, place{"other", ""}, false},
		{"a name that is a number", map[string]any{"name": 7}, place{"ns", ""}, false},
		{"a text", "b", place{"ns", ""}, false},
		{"nothing", nil, place{"ns", ""}, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got, ok := placeOf(test.reference, "ns"); ok != test.ok || got != test.want {
				t.Errorf("%v, %t", got, ok)
			}
		})
	}
}

func TestTrouble(t *testing.T) {
	broken := errors.New("connection refused")
	value := one(t, "{key: x, jsonPath: .data.x, fromResource: {apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}}")
	cluster := fakecluster.New()
	cluster.Fault = func(fakecluster.Request) fakecluster.Fault { return fakecluster.Fault{Before: broken} }
	if _, err := value.Begin(cluster, func() {}).Look(t.Context()); !errors.Is(err, broken) {
		t.Errorf("an object that cannot be read: %v", err)
	}
	cluster.Fault, cluster.NoWatch = nil, errors.New("forbidden")
	reading := value.Begin(cluster, func() {})
	if _, err := reading.Look(t.Context()); err != nil {
		t.Errorf("the first look needs no watch: %v", err)
	}
	if _, err := reading.Look(t.Context()); !errors.Is(err, cluster.NoWatch) {
		t.Errorf("an object that cannot be watched is an error, so that a timer looks again: %v", err)
	}
	cluster.Put(parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}, data: {x: word}}`))
	if missing, err := reading.Look(t.Context()); err != nil || missing != "" {
		t.Errorf("missing %q, error %v", missing, err)
	}
	unknown := one(t, "{key: x, jsonPath: .a, fromResource: {apiVersion: acme.example/v1, kind: Unknown, name: a}}")
	if _, err := unknown.Begin(cluster, func() {}).Look(t.Context()); err == nil || !strings.Contains(err.Error(), "find kind Unknown") {
		t.Errorf("an unknown kind: %v", err)
	}
}
