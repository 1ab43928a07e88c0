package mock

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/deployer"
	"go.landscaper.dev/internal/runtime/job"
)

func read(t *testing.T, text string) (*config, error) {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte("apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1\nkind: ProviderConfiguration\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	return parse(&runtime.RawExtension{Raw: content})
}

func TestEnding(t *testing.T) {
	tests := []struct {
		reason, config string
		want           deployer.Outcome
		waits          bool
	}{
		{"without a phase it succeeds", "", deployer.OutcomeNone, false},
		{"success", "phase: Succeeded", deployer.OutcomeNone, false},
		{"failure", "phase: Failed", deployer.OutcomeFinal, false},
		{"a job in progress", "phase: Progressing", deployer.OutcomeNone, true},
		{"a phase at the beginning takes the place of success", "initialPhase: Init", deployer.OutcomeNone, true},
		{"a failure at the beginning takes the place of success", "initialPhase: Failed", deployer.OutcomeFinal, false},
		{"the phase at the end wins", "{initialPhase: Failed, phase: Succeeded}", deployer.OutcomeNone, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			config, err := read(t, strings.Trim(strings.ReplaceAll(test.config, ", ", "\n"), "{}"))
			if err != nil {
				t.Fatal(err)
			}
			result, err := end(config.ending())
			if got := deployer.OutcomeOf(err); got != test.want || (len(result.WaitingFor) > 0) != test.waits {
				t.Errorf("outcome %s, result %v", got, result)
			}
		})
	}
}

func TestParse(t *testing.T) {
	const word = "top-secret-word"
	tests := []struct{ reason, config, want string }{
		{"a field of the wrong type", "phase: [" + word + "]", "a field has the wrong type"},
		{"a phase that does not exist", "phase: " + word, "phase must be one of"},
		{"a phase of deletions", "initialPhase: Deleting", "initialPhase must be one of"},
		{"a text to export", "export: " + word, "export must be an object"},
		{"a list to export", "export: [" + word + "]", "export must be an object"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := read(t, test.config); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), word) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := parse(&runtime.RawExtension{Raw: []byte(`{"apiVersion":"v1","kind":"Other"}`)}); err == nil {
		t.Error("another kind was accepted")
	}
	for text, want := range map[string]string{"": "null", "export: {}": "{}", "export: {a: {b: 1}}": `{"a":{"b":1}}`, "export: {a: 9007199254740993}": `{"a":9007199254740993}`} {
		config, err := read(t, text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(config.exports)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%q exports, -want +got\n%s", text, diff)
		}
	}
}

// TestRepetition does again what an item says, if it can be read.
func TestRepetition(t *testing.T) {
	tests := []struct {
		reason, config string
		want           bool
	}{
		{"no repetition is configured", "", false},
		{"a schedule", "continuousReconcile: {every: 1m, drift: report}", true},
		{"a schedule that is not valid", "continuousReconcile: {cron: soon}", false},
		{"a configuration that cannot be read", "continuousReconcile: {every: 1m}\nphase: 7", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			content, err := yaml.YAMLToJSON([]byte("apiVersion: mock.deployer.landscaper.gardener.cloud/v1alpha1\nkind: ProviderConfiguration\n" + test.config))
			if err != nil {
				t.Fatal(err)
			}
			item := &v1alpha1.DeployItem{Spec: v1alpha1.DeployItemSpec{Configuration: &runtime.RawExtension{Raw: content}}}
			var repeating deployer.Repeating = New()
			got := repeating.Repetition(item)
			if (got.Next != nil) != test.want || got.Watch {
				t.Errorf("%+v", got)
			}
			if drift, err := repeating.Drift(t.Context(), &deployer.Item{DeployItem: item}); err != nil || drift != nil {
				t.Errorf("drift %v, error %v", drift, err)
			}
		})
	}
}

func TestNote(t *testing.T) {
	now := metav1.NewTime(time.Unix(100, 0))
	for _, test := range []struct {
		err    error
		status v1alpha1.ConditionStatus
		reason string
	}{{nil, v1alpha1.ConditionTrue, "SuccessfullValidation"}, {job.NewError("a", "b", "c"), v1alpha1.ConditionFalse, "FailedUnmarshal"}} {
		t.Run(test.reason, func(t *testing.T) {
			item := &v1alpha1.DeployItem{}
			note(item, test.err, now)
			if got := job.GetCondition(item.Status.Conditions, v1alpha1.DeployItemValidationCondition); got == nil || got.Status != test.status || got.Reason != test.reason {
				t.Errorf("condition %+v", got)
			}
		})
	}
}
