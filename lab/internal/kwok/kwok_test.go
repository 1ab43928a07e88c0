package kwok

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestExceptAddsACondition(t *testing.T) {
	stage := "kind: Stage\nspec:\n  selector:\n    matchExpressions:\n    - {key: .a, operator: Exists}\n"
	adapted, err := except([]byte(stage), []string{"one", "two"})
	if err != nil {
		t.Fatal(err)
	}
	var content struct {
		Spec struct {
			Selector struct {
				MatchExpressions []struct {
					Key      string   `json:"key"`
					Operator string   `json:"operator"`
					Values   []string `json:"values"`
				} `json:"matchExpressions"`
			} `json:"selector"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(adapted, &content); err != nil {
		t.Fatal(err)
	}
	expressions := content.Spec.Selector.MatchExpressions
	if len(expressions) != 2 || !strings.Contains(expressions[1].Key, "(one|two)") || expressions[1].Values[0] != "false" {
		t.Errorf("expressions %+v", expressions)
	}
	if _, err := except([]byte("kind: Stage\n"), nil); err == nil {
		t.Error("a stage of another form was adapted without an error")
	}
}
