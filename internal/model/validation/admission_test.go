package validation

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/v1alpha1"
)

type admissionCase struct {
	Reason  string          `json:"reason"`
	Rule    string          `json:"rule"`
	Object  json.RawMessage `json:"object"`
	Old     json.RawMessage `json:"old"`
	Refused string          `json:"refused"`
	Warned  string          `json:"warned"`
	Checked string          `json:"checked"`
}

// TestAdmissionCases holds the controllers' own checks against the table that
// the integration tests send to an API server.
func TestAdmissionCases(t *testing.T) {
	content, err := os.ReadFile("testdata/admission.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []admissionCase
	if err := yaml.UnmarshalStrict(content, &cases); err != nil {
		t.Fatal(err)
	}
	for _, test := range cases {
		t.Run(test.Reason, func(t *testing.T) {
			got := check(t, test.Object, test.Old)
			switch {
			case test.Checked == "" && len(got) > 0:
				t.Errorf("complains about a valid object: %v", got.ToAggregate())
			case test.Checked != "" && (len(got) == 0 || !strings.Contains(got.ToAggregate().Error(), test.Checked)):
				t.Errorf("got %v, want an error with %q", got.ToAggregate(), test.Checked)
			}
		})
	}
}

func check(t *testing.T, object, old json.RawMessage) field.ErrorList {
	t.Helper()
	var meta struct{ Kind string }
	decode(t, object, &meta)
	switch meta.Kind {
	case "Installation":
		inst := &v1alpha1.Installation{}
		decode(t, object, inst)
		return Installation(inst, SourceNamespaces{"shared": {"default"}})
	case "Execution":
		exec := &v1alpha1.Execution{}
		decode(t, object, exec)
		return Execution(exec)
	case "DeployItem":
		item := &v1alpha1.DeployItem{}
		decode(t, object, item)
		if old == nil {
			return DeployItem(item, nil)
		}
		before := &v1alpha1.DeployItem{}
		decode(t, old, before)
		return DeployItem(item, before)
	case "Target":
		target := &v1alpha1.Target{}
		decode(t, object, target)
		return Target(target)
	case "TargetSync":
		sync := &v1alpha1.TargetSync{}
		decode(t, object, sync)
		return TargetSync(sync)
	}
	t.Fatalf("no check for kind %q", meta.Kind)
	return nil
}

func decode(t *testing.T, raw json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}
