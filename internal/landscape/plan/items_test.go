package plan

import (
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// literalItems is a blueprint whose items are written out, as most are: what it costs is
// the way from the text of a template to the items.
func literalItems(count int) string {
	var text strings.Builder
	text.WriteString("imports: [{name: cluster, targetType: kubernetes-cluster}]\ndeployExecutions:\n- name: items\n  type: GoTemplate\n  template: |\n    deployItems:\n")
	for i := range count {
		fmt.Fprintf(&text, `
    - name: item-%d
      type: landscaper.gardener.cloud/kubernetes-manifest
      target: {import: cluster}
      config:
        apiVersion: manifest.deployer.landscaper.gardener.cloud/v1alpha2
        kind: ProviderConfiguration
        updateStrategy: update
        manifests:
        - policy: manage
          manifest:
            apiVersion: v1
            kind: ConfigMap
            metadata: {name: settings, namespace: shop, labels: {app: shop}}
            data: {greeting: hello, size: "3"}
`, i)
	}
	return text.String()
}

// execution works out the Execution of an Installation with items that are written out.
func execution(tb testing.TB, in Input) *v1alpha1.Execution {
	tb.Helper()
	made, err := children(tb, in)
	if err != nil {
		tb.Fatal(err)
	}
	exec := &v1alpha1.Execution{}
	if err := exec.Spec.SetItems(made.DeployItems); err != nil {
		tb.Fatal(err)
	}
	return exec
}

// BenchmarkLiteralItems works out an Execution with 50 items.
func BenchmarkLiteralItems(b *testing.B) {
	in := input(b, literalItems(50))
	b.ReportAllocs()
	for b.Loop() {
		if exec := execution(b, in); len(exec.Spec.DeployItems) != 50 {
			b.Fatal(len(exec.Spec.DeployItems))
		}
	}
}

// TestItemAllocations bounds what each further item costs on its way from the text of a
// template to the Execution. Two thirds of it are the reading of YAML.
func TestItemAllocations(t *testing.T) {
	const further, most = 50, 300
	few, many := input(t, literalItems(1)), input(t, literalItems(1+further))
	each := (testing.AllocsPerRun(5, func() { execution(t, many) }) - testing.AllocsPerRun(5, func() { execution(t, few) })) / further
	t.Logf("%.0f allocations for each item", each)
	if each > most {
		t.Errorf("%.0f allocations for each item, at most %d", each, most)
	}
}
