package blueprints

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cli/terminal"
	"go.landscaper.dev/internal/cli/terminal/terminaltest"
	"go.landscaper.dev/internal/content/blueprint"
)

// createWith runs the command on a blueprint of the working directory.
func createWith(t *testing.T, args string) outcome {
	t.Helper()
	c := &terminaltest.Console{Environment: map[string]string{"HOME": t.TempDir()}}
	root := &cobra.Command{Use: "landscaper-cli"}
	root.AddCommand(NewCreateCommand(c.Streams()))
	code := terminal.Run(t.Context(), root, c.Streams(), terminaltest.Fields("create "+args))
	return outcome{code, c.Out.String(), c.Err.String()}
}

const flowing1 = `apiVersion: landscaper.gardener.cloud/v1alpha1
kind: Blueprint
imports:
- {name: cluster, type: target, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: others, type: targetList, targetType: landscaper.gardener.cloud/kubernetes-cluster}
- {name: domain, type: data, schema: {type: string}}
- {name: motto, type: data, schema: {type: string}, required: false}
- {name: replicas, type: data, schema: {type: integer}}
exports:
- {name: address, type: data, schema: {type: string}}
`

func TestCreate(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{"b/blueprint.yaml": flowing1, "b/files/one.txt": "text"})
	got := createWith(t, "b --name shop -n ns --target cluster=edge --target others=a,b --value replicas=3 --export address=shop-address --context own")
	if got.code != 0 || got.err != "" {
		t.Fatal(got)
	}
	const flows = `  imports:
    data:
    # Schema: {"type":"string"}
    - name: domain
      dataRef: ""
    # Schema: {"type":"string"}; optional: without a value, leave the entry out
    - name: motto
      dataRef: ""
    targets:
    # Target type: landscaper.gardener.cloud/kubernetes-cluster
    - name: cluster
      target: "edge"
    # Target type: landscaper.gardener.cloud/kubernetes-cluster
    - name: others
      targets: [a,b]
  exports:
    data:
    # Schema: {"type":"string"}
    - name: address
      dataRef: "shop-address"
`
	if !strings.HasSuffix(got.out, flows) {
		t.Errorf("%s", got.out)
	}
	inst := &v1alpha1.Installation{}
	if err := yamltext.UnmarshalStrict([]byte(got.out), yamltext.Lenient(), inst); err != nil {
		t.Fatal(err)
	}
	if inst.Name != "shop" || inst.Namespace != "ns" || inst.Annotations[v1alpha1.OperationAnnotation] != "reconcile" || inst.Spec.Context != "own" ||
		string(inst.Spec.ImportDataMappings["replicas"].RawMessage) != "3" || inst.Spec.ComponentDescriptor != nil {
		t.Errorf("%+v", inst)
	}
	files, err := blueprint.Inline(inst.Spec.Blueprint.Inline.Filesystem)
	if err != nil {
		t.Fatal(err)
	}
	if loaded, err := blueprint.Load(files); err != nil || len(loaded.Info.Imports) != 5 {
		t.Errorf("the blueprint does not survive: %v", err)
	}
}

func TestCreateRefuses(t *testing.T) {
	terminaltest.WriteFiles(t, map[string]string{"b/blueprint.yaml": flowing1})
	for _, test := range []struct{ reason, args, want string }{
		{"an unknown import", "b --target domain=x", "--target domain: the blueprint has no such import or export: it has cluster, others"},
		{"no pair", "b --data domain", "write a name, = and a value"},
		{"no value", "b --value domain={", "--value domain"},
		{"two arguments", "b c", "name a blueprint"},
		{"nothing there", "x", "x"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := createWith(t, test.args); got.code == 0 || !strings.Contains(got.err, test.want) {
				t.Errorf("%+v", got)
			}
		})
	}
}
