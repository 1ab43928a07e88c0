package readiness

import (
	"strings"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"go.landscaper.dev/api/deployer"
)

// TestStrangeStates: a state comes from another client, in any type. A state without meaning makes
// nothing ready.
func TestStrangeStates(t *testing.T) {
	const deployment = `{apiVersion: apps/v1, kind: Deployment, spec: {replicas: 1}, status: `
	const daemons = `{apiVersion: apps/v1, kind: DaemonSet, spec: {updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: `
	const scheduled = `}}}, status: {desiredNumberScheduled: 3, currentNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2}}`
	for _, test := range []struct {
		reason, object string
		ready          bool
	}{
		{"no state", deployment + `null}`, false},
		{"a text", deployment + `ready}`, false},
		{"a list", deployment + `[ready]}`, false},
		{"numbers that are texts", deployment + `{replicas: "1", updatedReplicas: "1", availableReplicas: "1"}}`, false},
		{"a fraction counts as far as it is whole", deployment + `{replicas: 1.5, updatedReplicas: 1.5, availableReplicas: 1.5}}`, true},
		{"more than there can be", deployment + `{replicas: 9223372036854775807, updatedReplicas: 1, availableReplicas: 1}}`, false},
		{"less than nothing", deployment + `{replicas: -1, updatedReplicas: 1, availableReplicas: 1}}`, false},
		{"a generation from the future has been seen", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 3}, spec: {replicas: 0}, status: {observedGeneration: 99}}`, true},
		{"a generation that is a text", `{apiVersion: apps/v1, kind: Deployment, metadata: {generation: 3}, spec: {replicas: 0}, status: {observedGeneration: "3"}}`, false},

		{"conditions that are a map", `{apiVersion: v1, kind: Pod, status: {conditions: {type: Ready, status: "True"}}}`, false},
		{"conditions that are texts", `{apiVersion: v1, kind: Pod, status: {conditions: [Ready, null, 7]}}`, false},
		{"a condition with a boolean instead of a text", `{apiVersion: v1, kind: Pod, status: {conditions: [{type: Ready, status: true}]}}`, false},
		{"a truth in other letters", `{apiVersion: v1, kind: Pod, status: {conditions: [{type: Ready, status: "true"}]}}`, false},
		{"the first of two conditions counts", `{apiVersion: v1, kind: Pod, status: {conditions: [{type: Ready, status: "False"}, {type: Ready, status: "True"}]}}`, false},
		{"a condition without a type", `{apiVersion: v1, kind: Pod, status: {conditions: [{status: "True"}]}}`, false},

		{"a share that is no share", daemons + `many` + scheduled, false},
		{"a share of all and more", daemons + `200%` + scheduled, true},
		{"a number that is a text", daemons + `"1"` + scheduled, false},
		{"a number that is huge", daemons + `9223372036854775807` + scheduled, true},
		{"a number below zero demands no more than all", daemons + `-9223372036854775808` + scheduled, false},
		{"a number that is one in its lowest 32 bits", daemons + `-4294967295` + scheduled, false},
		{"a fraction", daemons + `1.5` + scheduled, false},
		{"nothing", daemons + `null` + scheduled, false},

		{"a partition below zero", `{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 1, updateStrategy: {rollingUpdate: {partition: -5}}}, status: {updatedReplicas: 1, availableReplicas: 1, currentRevision: a, updateRevision: a}}`, false},
		{"a strategy that is a text", `{apiVersion: apps/v1, kind: StatefulSet, spec: {replicas: 1, updateStrategy: OnDelete}, status: {updatedReplicas: 0, availableReplicas: 1}}`, false},
		{"a failure that is neither true nor false", `{apiVersion: apps/v1, kind: ReplicaSet, status: {readyReplicas: 1, conditions: [{type: ReplicaFailure, status: Unknown}]}}`, false},
		{"a version that is not valid has no rule", `{apiVersion: a/b/c, kind: Deployment}`, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			object := parse(t, test.object)
			before := object.DeepCopy()
			found := Unready(object)
			if found.Ready() != test.ready {
				t.Errorf("ready: %v, %q", found.Ready(), found.Why)
			}
			if again := Unready(before); again != found {
				t.Errorf("looked at again it is %+v", again)
			}
		})
	}
}

// TestOneLine: messages of others are shown in conditions and tables.
func TestOneLine(t *testing.T) {
	for _, test := range []struct{ reason, text, want string }{
		{"nothing", "", ""},
		{"spaces", " \t\n ", ""},
		{"lines", "a\nb\r\n\tc", "a b c"},
		{"spaces of other scripts", "a\u00a0b\u2003c\u2028d", "a b c d"},
		{"a text of the maximal length", strings.Repeat("x", maxLine), strings.Repeat("x", maxLine)},
		{"a text that is too long by one sign", strings.Repeat("x", maxLine+1), strings.Repeat("x", maxLine) + "…"},
		{"signs count, not bytes", strings.Repeat("漢", maxLine), strings.Repeat("漢", maxLine)},
		{"many wide signs", strings.Repeat("漢", 100_000), strings.Repeat("漢", maxLine) + "…"},
		{"many spaces", strings.Repeat(" ", 1_000_000) + "x", "x"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := oneLine(test.text); got != test.want {
				t.Errorf("%q", got)
			}
		})
	}
	if got := oneLine("a\xff\xfeb"); !utf8.ValidString(got) {
		t.Errorf("broken text stays broken: %q", got)
	}
}

// TestDetail: the message says more than the reason, and a value other than a text is ignored.
func TestDetail(t *testing.T) {
	for _, test := range []struct {
		reason    string
		condition map[string]any
		want      string
	}{
		{"a message", map[string]any{"message": "no image", "reason": "Pull"}, "it waits: no image"},
		{"a reason", map[string]any{"message": "", "reason": "Pull"}, "it waits: Pull"},
		{"neither a message nor a reason", map[string]any{}, "it waits"},
		{"a message that is a list", map[string]any{"message": []any{"x"}, "reason": "Pull"}, "it waits: Pull"},
		{"no condition", nil, "it waits"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := detail("it waits", test.condition); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestRequirementsShowNoValue: the object may be a Secret, and so may the requirement.
func TestRequirementsShowNoValue(t *testing.T) {
	const word = "Tr0ubador"
	object := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"password": word, "list": []any{word, "x"}}}}
	for _, operator := range []string{"==", "!=", "in", "notin", "exists", "!", "Equals", "NOTIN"} {
		for _, path := range []string{".data.password", ".data.list[*]", ".data.list", ".data", ".nothing", ".data.password.deeper", "{.data.list[?(@==\"x\")]}"} {
			t.Run(operator+" "+path, func(t *testing.T) {
				spec := deployer.RequirementSpec{JSONPath: path, Operator: operator, Values: []deployer.RequirementValue{{}}}
				spec.Values[0].Value.RawMessage = []byte(`"` + word + `x"`)
				requirement, err := newRequirement(spec)
				if err != nil {
					if strings.Contains(err.Error(), word) {
						t.Errorf("the check shows a value: %v", err)
					}
					return
				}
				first := requirement.unmet(object.Object)
				if strings.Contains(first, word) {
					t.Errorf("the answer shows a value: %s", first)
				}
				if again := requirement.unmet(object.Object); again != first {
					t.Errorf("asked again the answer is %q, before %q", again, first)
				}
			})
		}
	}
}
