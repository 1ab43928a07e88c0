package plan

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/model/dataflow/valueobject"
)

// wired passes a password through two levels.
const wired = `
imports:
- {name: password, schema: {type: string}}
- {name: size, schema: {type: integer}}
exports:
- {name: length, schema: {type: integer}}
exportExecutions:
- {name: e, type: GoTemplate, template: "exports: {length: {{ len .dataobjects.password }}}"}
subinstallations:
- name: middle
  blueprint:
    filesystem:
      blueprint.yaml: |
        imports:
        - {name: login, schema: {type: string}}
        - {name: size, schema: {type: integer}}
        subinstallations:
        - name: leaf
          blueprint:
            filesystem:
              blueprint.yaml: |
                imports:
                - {name: login, schema: {type: string}}
                deployExecutions:
                - {name: d, type: GoTemplate, template: "deployItems: [{name: own, type: t, config: {login: {{ .imports.login }}}}]"}
          imports:
            data: [{name: login, dataRef: login}]
  imports:
    data: [{name: login, dataRef: password}, {name: size, dataRef: size}]
`

// TestSecretsStaySecrets: however far a value from a Secret is passed, no DataObject has it, and
// every importer gets it.
func TestSecretsStaySecrets(t *testing.T) {
	in := input(t, wired)
	in.Imports.Data["password"] = dataflow.DataImport{Value: v1alpha1.NewAnyJSON([]byte(`"hunter2hunter2"`)), Salt: "uid-of-secret"}
	root, err := (&Tree{Open: openInlineOnly, Simulation: known{}}).Grow(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	middle := root.Nodes[0]
	leaf := middle.Nodes[0]
	for _, node := range []*Node{root, middle, leaf} {
		copies := copiesOf(t, node)
		if len(copies.Secrets) != 1 || string(copies.Secrets[0].Data["value"]) != `"hunter2hunter2"` {
			t.Fatalf("%s: %d Secrets", node.Path, len(copies.Secrets))
		}
		for _, object := range copies.DataObjects {
			fromSecret := object.Labels[v1alpha1.DataObjectKeyLabel] != "size"
			if (valueobject.SecretOf(object) != "") != fromSecret || strings.Contains(string(object.Data.RawMessage), "hunter2") {
				t.Errorf("%s: DataObject %s", node.Path, object.Data.RawMessage)
			}
		}
	}
	if config := string(leaf.DeployItems[0].Configuration.Raw); config != `{"login":"hunter2hunter2"}` {
		t.Errorf("the last one gets %s", config)
	}
	if length := root.Exports.Values["length"]; length != int64(14) {
		t.Errorf("export executions see %v", length)
	}
	if used := (Usage{}).add(dataflow.Exports{Secrets: copiesOf(t, root).Secrets}); used.Bytes != len(`"hunter2hunter2"`) {
		t.Errorf("%d bytes of copies are counted", used.Bytes)
	}
}

func copiesOf(t *testing.T, node *Node) dataflow.Exports {
	t.Helper()
	copies, err := planned(t, node.in).Copies()
	if err != nil {
		t.Fatal(err)
	}
	return copies
}
