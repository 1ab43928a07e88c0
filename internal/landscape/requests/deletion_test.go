package requests

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

func item(name, dependsOn, status string) *inspect.Node {
	object := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Name: "x-" + name, Annotations: map[string]string{}}}
	if dependsOn != "" {
		object.Annotations[v1alpha1.ExecutionDependsOnAnnotation] = dependsOn
	}
	if status != "" {
		object.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(status)}
	}
	return &inspect.Node{Kind: inspect.KindDeployItem, Name: object.Name, TemplateName: name, Target: "edge", DeployItem: object}
}

func sub(name string, imports, exports string, items ...*inspect.Node) *inspect.Node {
	object := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "shop-" + name}}
	if imports != "" {
		object.Spec.Imports.Data = []v1alpha1.DataImport{{Name: imports, DataRef: imports}}
	}
	if exports != "" {
		object.Spec.Exports.Data = []v1alpha1.DataExport{{Name: exports, DataRef: exports}}
	}
	node := &inspect.Node{Kind: inspect.KindInstallation, Name: object.Name, TemplateName: name, Installation: object}
	if len(items) > 0 {
		node.Children = []*inspect.Node{{Kind: inspect.KindExecution, Name: object.Name, Children: items}}
	}
	return node
}

func TestUninstalls(t *testing.T) {
	const status = `{"managedResources":[{"policy":"manage","resource":{"kind":"ConfigMap","name":"a"}},{"policy":"keep","resource":{"kind":"ConfigMap","name":"kept"}}]}`
	root := sub("shop", "", "", item("own", "", ""))
	root.TemplateName = ""
	root.Children = append(root.Children,
		sub("db", "", "host", item("server", "", status), item("backup", "server", "")),
		sub("web", "host", "address", item("chart", "", "")),
		sub("tests", "address", "", item("job", "", "")),
		sub("other", "", "", item("thing", "", "")),
	)
	var text strings.Builder
	for _, u := range Uninstalls(root) {
		fmt.Fprintf(&text, "%d %s %s %d\n", u.Step, u.Path, u.Target, len(u.Objects))
	}
	want := `1 shop-shop/own edge 0
1 shop-shop/tests/job edge 0
1 shop-shop/other/thing edge 0
2 shop-shop/web/chart edge 0
3 shop-shop/db/backup edge 0
4 shop-shop/db/server edge 1
`
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Error(diff)
	}
}

// TestUninstallsAtOnce: what does not wait for its importers goes in the first step, as the controller
// deletes it.
func TestUninstallsAtOnce(t *testing.T) {
	ignores := sub("db", "", "host", item("server", "", ""))
	ignores.Installation.Annotations = map[string]string{v1alpha1.DeleteIgnoreSuccessorsAnnotation: "true"}
	promises := sub("dns", "", "zone", item("server", "", ""))
	promises.Installation.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingExports: true}
	waits := sub("net", "", "range", item("server", "", ""))
	importer := sub("web", "host", "", item("chart", "", ""))
	importer.Installation.Spec.Imports.Data = append(importer.Installation.Spec.Imports.Data, v1alpha1.DataImport{Name: "zone", DataRef: "zone"}, v1alpha1.DataImport{Name: "range", DataRef: "range"})
	root := sub("shop", "", "")
	root.Children = []*inspect.Node{ignores, promises, waits, importer}
	want := map[string]int{"db": 1, "dns": 1, "net": 2, "web": 1}
	for _, u := range Uninstalls(root) {
		if name := strings.Split(u.Path, "/")[1]; u.Step != want[name] {
			t.Errorf("%s goes in step %d, want %d", name, u.Step, want[name])
		}
	}
}

// TestLeftovers: what is left on other clusters is told apart from what is on the cluster of
// the Target.
func TestLeftovers(t *testing.T) {
	const status = `{"cluster":{"id":"n"},"managedResources":[{"policy":"manage","resource":{"kind":"ConfigMap","name":"a"}}],"earlierClusters":[` +
		`{"id":"o","server":"https://old.example","release":{"name":"r","namespace":"ns"},"managedResources":[{"policy":"manage","resource":{"kind":"Secret","name":"b"}},{"policy":"keep","resource":{"kind":"Secret","name":"kept"}}]}]}`
	got := UninstallOf(item("own", "", status), "shop")
	if len(got.Objects) != 1 || got.Objects[0].Name != "a" {
		t.Errorf("on the cluster of the Target there are %v", got.Objects)
	}
	if len(got.EarlierClusters) != 1 || got.EarlierClusters[0].Cluster != "https://old.example" || got.EarlierClusters[0].Release != "ns/r" ||
		len(got.EarlierClusters[0].Objects) != 1 || got.EarlierClusters[0].Objects[0].Name != "b" {
		t.Errorf("on earlier clusters there are %+v", got.EarlierClusters)
	}
}

// TestUninstallsOfCircle: an order for what could never be deployed.
func TestUninstallsOfCycle(t *testing.T) {
	root := sub("shop", "", "")
	root.Children = []*inspect.Node{sub("a", "x", "y", item("one", "two", "not json"), item("two", "one", "")), sub("b", "y", "x", item("one", "", ""))}
	if got := Uninstalls(root); len(got) != 3 {
		t.Errorf("%+v", got)
	}
}
