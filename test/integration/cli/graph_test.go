package cli

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

func TestGraph(t *testing.T) {
	namespace := newNamespace(t)
	source, sink := newInstallation(namespace, "source", ""), newInstallation(namespace, "sink", "")
	source.Spec.Exports.Data = []v1alpha1.DataExport{{Name: "host", DataRef: "address"}}
	sink.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "host", DataRef: "address"}}
	create(t, source, job("job-1", "Succeeded"))
	create(t, sink, job("job-1", "Failed"))
	got := cli(t, resource.Kubeconfig, "inst", "graph", "-n", namespace)
	const want = "[Failed] sink\n    ← data address from source\n[Succeeded] source\n    → data address to sink\n"
	if sorted := "[Succeeded] source\n    → data address to sink\n[Failed] sink\n    ← data address from source\n"; got != (outcome{out: want}) && got != (outcome{out: sorted}) {
		t.Errorf("%+v", got)
	}
	if got := cli(t, resource.Kubeconfig, "graph", "sink", "-n", namespace, "-o", "svg"); got.code != 0 || !strings.HasPrefix(got.out, "<svg ") {
		t.Errorf("%+v", got)
	}
	if got := cli(t, resource.Kubeconfig, "graph", "x", "-n", namespace); got.code != 3 {
		t.Errorf("nothing there: %+v", got)
	}
	if got := cli(t, resource.Kubeconfig, "graph", "-n", namespace, "-o", "png"); got.code != 64 {
		t.Errorf("no such form: %+v", got)
	}
}
