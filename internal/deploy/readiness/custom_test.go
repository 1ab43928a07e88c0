package readiness

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

func compileText(t *testing.T, text string) ([]Custom, error) {
	t.Helper()
	var specs []deployer.CustomReadinessCheckConfiguration
	if err := yaml.Unmarshal([]byte(text), &specs); err != nil {
		t.Fatal(err)
	}
	return Compile(specs)
}

func TestCompile(t *testing.T) {
	const where = "name: c, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}]"
	tests := []struct{ reason, config, want string }{
		{"everything is there", "[{" + where + ", targetName: edge, timeout: 10s, requirements: [{jsonPath: .a, operator: exists}]}]", ""},
		{"a single object instead of a list", "[{name: c, resourceSelector: {apiVersion: v1, kind: ConfigMap, name: a}, requirements: [{jsonPath: .a, operator: exists}]}]", ""},
		{"a selector of names beside a selector of labels", "[{" + where + ", labelSelector: {apiVersion: v1, kind: Pod, matchLabels: {a: b}}, requirements: [{jsonPath: .a, operator: '!'}]}]", ""},
		{"no name", "[{resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: a}], requirements: [{jsonPath: .a, operator: exists}]}]", "custom[0].name is missing"},
		{"no objects", "[{name: c, requirements: [{jsonPath: .a, operator: exists}]}]", "custom[0] chooses no objects"},
		{"an object without a name", "[{name: c, resourceSelector: [{apiVersion: v1, kind: ConfigMap}], requirements: [{jsonPath: .a, operator: exists}]}]", "custom[0].resourceSelector[0] must have apiVersion, kind and name"},
		{"a selector without labels", "[{name: c, labelSelector: {apiVersion: v1, kind: Pod}, requirements: [{jsonPath: .a, operator: exists}]}]", "custom[0].labelSelector must have"},
		{"no requirements", "[{" + where + "}]", "custom[0].requirements is missing"},
		{"expressions instead of requirements", "[{" + where + ", expressions: {current: 'status.ready'}}]", ""},
		{"expressions that cannot work", "[{" + where + ", expressions: {current: 'status.'}}]", "custom[0].expressions.current: it is not an expression in CEL"},
		{"no path", "[{" + where + ", requirements: [{operator: exists}]}]", "custom[0].requirements[0]: jsonPath is missing"},
		{"a path that is not valid", "[{" + where + ", requirements: [{jsonPath: '.a[', operator: exists}]}]", "requirements[0]: jsonPath: it is not a path"},
		{"an operator that does not exist", "[{" + where + ", requirements: [{jsonPath: .a, operator: gt, values: [{value: 1}]}]}]", "operator does not exist: use exists"},
		{"nothing to compare with", "[{" + where + ", requirements: [{jsonPath: .a, operator: ==}]}]", "values is missing"},
		{"too much to compare with", "[{" + where + ", requirements: [{jsonPath: .a, operator: '!=', values: [{value: 1}, {value: 2}]}]}]", "use in or notin"},
		{"a time limit that is not valid", "[{" + where + ", timeout: soon, requirements: [{jsonPath: .a, operator: exists}]}]", "custom[0].timeout"},
		{"a disabled check must be valid, too", "[{" + where + ", disabled: true}]", "requirements is missing"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			checks, err := compileText(t, test.config)
			if (err == nil) != (test.want == "") || (err != nil && !strings.Contains(err.Error(), test.want)) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			if test.want == "" && len(checks) != 1 {
				t.Errorf("%d checks", len(checks))
			}
		})
	}
	checks, err := compileText(t, "[{"+where+", disabled: true, requirements: [{jsonPath: .a, operator: exists}]}, {"+where+", timeout: 5s, targetName: edge, requirements: [{jsonPath: .a, operator: exists}]}]")
	if err != nil || len(checks) != 1 || checks[0].Timeout != 5*time.Second || checks[0].TargetName != "edge" {
		t.Errorf("checks %+v, error %v", checks, err)
	}
}

func TestRequirements(t *testing.T) {
	const object = `{apiVersion: v1, kind: ConfigMap, spec: {text: word, number: 3, truth: true, truthText: "true", nothing: null, list: [1, 2], map: {a: {b: 1}}, empty: [], all: [x, x], mixed: [x, y]}}`
	tests := []struct {
		reason, path, operator, values string
		met                            bool
	}{
		{"a field that is there", ".spec.text", "exists", "", true},
		{"a field that is missing", ".spec.other", "exists", "", false},
		{"null is there", ".spec.nothing", "exists", "", true},
		{"an empty list has no elements", ".spec.empty[*]", "exists", "", false},
		{"a field that must not be there", ".spec.other", "!", "", true},
		{"a field that must not be there, and is", ".spec.text", "!", "", false},
		{"null counts as present for an operator of absence", ".spec.nothing", "!", "", false},
		{"a text", ".spec.text", "==", "[{value: word}]", true},
		{"an equal text, with the operator =", ".spec.text", "=", "[{value: word}]", true},
		{"a different text", ".spec.text", "==", "[{value: other}]", false},
		{"a number", ".spec.number", "==", "[{value: 3}]", true},
		{"numbers are of one type", ".spec.number", "==", "[{value: 3.0}]", true},
		{"a text does not equal a number", ".spec.number", "==", `[{value: "3"}]`, false},
		{"a truth", ".spec.truth", "==", "[{value: true}]", true},
		{"a text is no truth", ".spec.truthText", "==", "[{value: true}]", false},
		{"null", ".spec.nothing", "==", "[{value: null}]", true},
		{"a list in its order", ".spec.list", "==", "[{value: [1, 2]}]", true},
		{"a list in another order", ".spec.list", "==", "[{value: [2, 1]}]", false},
		{"a map as a whole", ".spec.map", "==", "[{value: {a: {b: 1}}}]", true},
		{"a part of a map is not enough", ".spec.map", "==", "[{value: {a: {}}}]", false},
		{"a text in a list of several", ".spec.text", "in", "[{value: other}, {value: word}]", true},
		{"a text outside of a list", ".spec.text", "in", "[{value: other}]", false},
		{"a difference", ".spec.text", "!=", "[{value: other}]", true},
		{"no difference", ".spec.text", "!=", "[{value: word}]", false},
		{"a difference needs a field", ".spec.other", "!=", "[{value: word}]", false},
		{"a difference to several", ".spec.text", "notin", "[{value: other}, {value: another}]", true},
		{"no difference to one of them", ".spec.text", "NotIn", "[{value: other}, {value: word}]", false},
		{"a difference to several needs a field", ".spec.other", "notin", "[{value: word}]", false},
		{"all values must do", ".spec.all[*]", "==", "[{value: x}]", true},
		{"a single equal value is not enough", ".spec.mixed[*]", "==", "[{value: x}]", false},
		{"all values must differ", ".spec.mixed[*]", "!=", "[{value: x}]", false},
		{"the long name of the operator of absence", ".spec.other", "DoesNotExist", "", true},
		{"a path that does not fit is no value", ".spec.text[0]", "exists", "", false},
		{"an index that is too large is no value", ".spec.list[7]", "==", "[{value: 1}]", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			spec := deployer.RequirementSpec{JSONPath: test.path, Operator: test.operator}
			if err := yaml.Unmarshal([]byte(test.values), &spec.Values); err != nil {
				t.Fatal(err)
			}
			requirement, err := newRequirement(spec)
			if err != nil {
				t.Fatal(err)
			}
			why := requirement.unmet(parse(t, object).Object)
			if (why == "") != test.met {
				t.Errorf("unmet: %q, want met: %t", why, test.met)
			}
			if strings.Contains(why, "word") {
				t.Errorf("the reason has a value: %s", why)
			}
		})
	}
}

// begin begins the only check of a configuration.
func begin(t *testing.T, cluster *fakecluster.Cluster, wake func(), config string) *CustomCheck {
	t.Helper()
	checks, err := compileText(t, config)
	if err != nil {
		t.Fatal(err)
	}
	check, err := checks[0].Begin(t.Context(), cluster, wake)
	if err != nil {
		t.Fatal(err)
	}
	return check
}

func expectUnready(t *testing.T, check *CustomCheck, want string) {
	t.Helper()
	unready, err := check.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, object := range unready {
		got = append(got, object.Kind+" "+object.Namespace+"/"+object.Name+": "+object.Why)
	}
	if strings.Join(got, "; ") != want {
		t.Errorf("unready: %v, want %q", got, want)
	}
}

func TestNamedObject(t *testing.T) {
	cluster, wakes := fakecluster.New(), 0
	check := begin(t, cluster, func() { wakes++ }, "[{name: c, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}], requirements: [{jsonPath: .data.x, operator: exists}]}]")
	expectUnready(t, check, "ConfigMap ns/a: it does not exist yet")
	cluster.Put(parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}`))
	expectUnready(t, check, "ConfigMap ns/a: field .data.x does not exist yet")
	if wakes != 1 {
		t.Errorf("%d triggers", wakes)
	}
	cluster.Put(parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}, data: {x: "1"}}`))
	expectUnready(t, check, "")
	if got := cluster.Counts(); got["get"] != 1 || got["watch"] != 1 {
		t.Errorf("requests %v: one look and one watch", got)
	}
	check.Close()
	if cluster.Watched() != 0 {
		t.Errorf("%d watches are left", cluster.Watched())
	}
}

// TestReplacedObjects shows that a deleted object that once had the labels does not matter any
// more: pods are replaced all the time.
func TestReplacedObjects(t *testing.T) {
	cluster := fakecluster.New()
	pod := func(name, status string) {
		cluster.Put(parse(t, `{apiVersion: v1, kind: Pod, metadata: {name: `+name+`, namespace: ns, labels: {app: web}}, status: {phase: `+status+`}}`))
	}
	check := begin(t, cluster, func() {}, "[{name: c, labelSelector: {apiVersion: v1, kind: Pod, matchLabels: {app: web}}, requirements: [{jsonPath: .status.phase, operator: ==, values: [{value: Running}]}]}]")
	expectUnready(t, check, "Pod /app=web: no object has these labels yet")
	pod("one", "Failed")
	expectUnready(t, check, "Pod ns/one: field .status.phase has another value than required")
	pod("two", "Running")
	expectUnready(t, check, "Pod ns/one: field .status.phase has another value than required")
	cluster.Remove("Pod", "ns", "one")
	expectUnready(t, check, "")
	if got := cluster.Counts(); got["list"] != 1 || got["watch"] != 1 {
		t.Errorf("requests %v", got)
	}
}

func TestCheckUnderTrouble(t *testing.T) {
	const config = "[{name: c, resourceSelector: [{apiVersion: v1, kind: ConfigMap, name: a, namespace: ns}], requirements: [{jsonPath: .data.x, operator: exists}]}]"
	broken := errors.New("connection refused")
	cluster := fakecluster.New()
	cluster.Fault = func(fakecluster.Request) fakecluster.Fault { return fakecluster.Fault{Before: broken} }
	if _, err := begin(t, cluster, func() {}, config).Look(t.Context()); !errors.Is(err, broken) || !strings.Contains(err.Error(), `readiness check "c": look at ConfigMap ns/a`) {
		t.Errorf("error %v", err)
	}
	cluster.Fault, cluster.NoWatch = nil, errors.New("forbidden")
	check := begin(t, cluster, func() {}, config)
	expectUnready(t, check, "ConfigMap ns/a: it does not exist yet")
	if _, err := check.Look(t.Context()); !errors.Is(err, cluster.NoWatch) || !strings.Contains(err.Error(), "it does not exist yet") {
		t.Errorf("what cannot be watched is an error that says what is missing: %v", err)
	}
	for _, unknown := range []string{
		"[{name: c, resourceSelector: [{apiVersion: acme.example/v1, kind: Unknown, name: a}], requirements: [{jsonPath: .a, operator: exists}]}]",
		"[{name: c, labelSelector: {apiVersion: acme.example/v1, kind: Unknown, matchLabels: {a: b}}, requirements: [{jsonPath: .a, operator: exists}]}]",
	} {
		checks, err := compileText(t, unknown)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := checks[0].Begin(t.Context(), cluster, func() {}); err == nil || !strings.Contains(err.Error(), "find kind Unknown") {
			t.Errorf("error %v", err)
		}
	}
}
