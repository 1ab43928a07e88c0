package expression

import (
	"strings"
	"testing"
	"time"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const word = "top-secret-word"

func objectOf(t *testing.T, text string) map[string]any {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(content, &object); err != nil {
		t.Fatal(err)
	}
	return object
}

const database = `
apiVersion: acme.example/v1
kind: Database
metadata: {name: main, labels: {"acme.example/tier": gold}}
spec: {replicas: 2}
status: {phase: Running, replicas: 2, load: 0.5, password: ` + word + `, conditions: [{type: Ready, status: "True"}, {type: Provisioned, status: "False", reason: QuotaExceeded}]}
`

func TestHolds(t *testing.T) {
	tests := []struct {
		reason, expression string
		want               bool
		fails              string
	}{
		{"a comparison", `status.phase == 'Running' && status.replicas >= 2`, true, ""},
		{"two fields of the object", `status.replicas == spec.replicas`, true, ""},
		{"an element of a list", `status.conditions.exists(c, c.type == 'Provisioned' && c.status == 'False' && c.reason == 'QuotaExceeded')`, true, ""},
		{"the first element that fits", `status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')`, true, ""},
		{"a key with a dot", `metadata.labels['acme.example/tier'] == 'gold'`, true, ""},
		{"whole and broken numbers compare", `status.load < 1 && status.replicas > 1.5`, true, ""},
		{"a field that may be missing", `has(status.error) && status.error != ''`, false, ""},
		{"an optional field", `status.?error.orValue('') == ''`, true, ""},
		{"the type of a field", `type(status.replicas) == int && string(status.replicas) == '2'`, true, ""},
		{"a field that is called as a function is", `type(spec) == map && has(spec.replicas)`, true, ""},
		{"a field that is not there yet", `status.ready == true`, false, "there is no field ready yet"},
		{"an object without the top-level field", `other.ready`, false, "there is no field other yet"},
		{"a field of another type", `status.phase`, false, "neither true nor false"},
		{"a conversion that fails repeats no value", `int(status.password) == 1`, false, "does not fit the object yet"},
		{"a value that is used as a key is not repeated", `status[status.password] == 1`, false, "does not fit the object yet"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			condition, err := Parse(test.expression)
			if err != nil {
				t.Fatal(err)
			}
			got, err := condition.Holds(objectOf(t, database))
			if got != test.want || (err == nil) != (test.fails == "") || (err != nil && !strings.Contains(err.Error(), test.fails)) {
				t.Errorf("%t, error %v", got, err)
			}
			if err != nil && strings.Contains(err.Error(), word) {
				t.Errorf("the message has a value: %v", err)
			}
			if condition.String() != test.expression {
				t.Errorf("it is shown as %s", condition)
			}
		})
	}
}

func TestParse(t *testing.T) {
	tests := []struct{ reason, expression, want string }{
		{"nothing", " ", "it is empty"},
		{"no expression", "status." + "'" + word + "'", "not an expression in CEL (line 1, column 8)"},
		{"a function that does not exist", word[:3] + "('" + word + "')", "a function that does not exist, or that does not fit (line 1, column 4)"},
		{"an operator that does not fit", "1 + '" + word + "' == 2", "does not fit (line 1, column 3)"},
		{"no condition", "'" + word + "'", "it must be true or false"},
		{"a function that makes large texts of small ones", "status.a.replace('', status.a) == ''", "a function that does not exist"},
		{"a constant that cannot work", `status.a.matches('(` + word + `')`, "a constant that cannot work"},
		{"a long one", strings.Repeat("true && ", 600) + "true", "longer than 4096 characters"},
		{"a deep one", strings.Repeat("[", 100) + strings.Repeat("]", 100) + " == []", "not an expression"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, err := Parse(test.expression)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want %q", err, test.want)
			}
			if strings.Contains(err.Error(), word) {
				t.Errorf("the message has a text of the expression: %v", err)
			}
		})
	}
}

// TestCost shows that an expression which would run for years ends soon.
func TestCost(t *testing.T) {
	list := make([]any, 10_000)
	for i := range list {
		list[i] = int64(i)
	}
	object := map[string]any{"many": list, "text": strings.Repeat("a", 1_000_000)}
	for _, text := range []string{
		"many.all(a, many.all(b, many.all(c, a + b + c >= 0)))",
		"[1,2,3,4,5,6,7,8,9].all(a, (text + text + text + text).contains(text + 'b') == false)",
	} {
		t.Run(text, func(t *testing.T) {
			condition, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			if _, err := condition.Holds(object); err == nil || !strings.Contains(err.Error(), "it takes too long") {
				t.Errorf("%s: error %v", text, err)
			}
			if took := time.Since(begun); took > time.Minute {
				t.Errorf("%s: %v", text, took)
			}
		})
	}
}
