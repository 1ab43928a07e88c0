package release

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/release/common"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

var widget = schema.GroupVersionKind{Group: "acme.example", Version: "v1beta1", Kind: "Widget"}

// widgets is a desired state with a ConfigMap and objects of a kind of the cluster.
func widgets(version string, names ...string) DesiredState {
	desiredState := wishFor("a")
	desiredState.Hooks = nil
	for _, name := range names {
		desiredState.Manifest += "---\n# Source: shop/templates/widget.yaml\napiVersion: acme.example/" + version + "\nkind: Widget\nmetadata: {name: " + name + "}\n"
	}
	desiredState.Marks.Digest += version + strings.Join(names, " ")
	return desiredState
}

// served is a cluster after an update: its objects are what they were, and versions of
// the kind are served as it says.
func served(t *testing.T, before *fakecluster.Cluster, versions ...string) *fakecluster.Cluster {
	t.Helper()
	after := fakecluster.New()
	for _, version := range versions {
		after.Know(widget.GroupKind().WithVersion(version), "widgets", meta.RESTScopeNamespace)
	}
	for _, name := range before.Names() {
		kind, path, _ := strings.Cut(name, " ")
		namespace, name, _ := strings.Cut(path, "/")
		found := before.Find(kind, namespace, name)
		if kind == widget.Kind && len(versions) == 0 {
			continue
		}
		if kind == widget.Kind {
			found.SetAPIVersion(widget.Group + "/" + versions[0])
		}
		after.Put(found)
	}
	return after
}

// TestVersionsThatAreNotServed loses no objects of a release when the cluster no longer
// serves the version in which they were deployed.
func TestVersionsThatAreNotServed(t *testing.T) {
	for _, test := range []struct {
		reason   string
		versions []string
		do       func(t *testing.T, cluster *fakecluster.Cluster) error
		want     []string
	}{
		{"another version is served: the objects are deleted with the release", []string{"v1"}, uninstallAll, nil},
		{"the kind is deleted, and its objects with it", nil, uninstallAll, nil},
		{"the new chart does not have them any more", []string{"v1"}, func(t *testing.T, cluster *fakecluster.Cluster) error {
			_, err := reconcile(t, cluster, &testJob{}, widgets("v1", "two"))
			return err
		}, []string{"ConfigMap here/a", "Widget here/two"}},
		{"the new chart has them in the new version", []string{"v1"}, func(t *testing.T, cluster *fakecluster.Cluster) error {
			one := cluster.Find("Widget", "here", "one").GetUID()
			_, err := reconcile(t, cluster, &testJob{}, widgets("v1", "one", "two"))
			if cluster.Find("Widget", "here", "one").GetUID() != one {
				t.Error("it was created again")
			}
			return err
		}, []string{"ConfigMap here/a", "Widget here/one", "Widget here/two"}},
		{"the new chart still has the old version", []string{"v1"}, func(t *testing.T, cluster *fakecluster.Cluster) error {
			if _, err := reconcile(t, cluster, &testJob{}, widgets("v1beta1", "two")); err == nil || !strings.Contains(err.Error(), "shop/templates/widget.yaml") || !strings.Contains(err.Error(), "does not know kind Widget in acme.example/v1beta1") {
				t.Errorf("%v", err)
			}
			return nil
		}, []string{"ConfigMap here/a", "Widget here/one", "Widget here/two"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			before := fakecluster.New()
			before.Know(widget, "widgets", meta.RESTScopeNamespace)
			waiting, err := reconcile(t, before, &testJob{}, widgets("v1beta1", "one", "two"))
			must(t, waiting, err)
			after := served(t, before, test.versions...)
			if err := test.do(t, after); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, objectsOf(after)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestOneObjectInTwoGroups keeps an object that the new chart names in another group of
// the API.
func TestOneObjectInTwoGroups(t *testing.T) {
	cluster := fakecluster.New()
	cluster.Know(widget, "widgets", meta.RESTScopeNamespace)
	cluster.Know(schema.GroupVersionKind{Group: "new.example", Version: "v1", Kind: "Widget"}, "widgets", meta.RESTScopeNamespace)
	waiting, err := reconcile(t, cluster, &testJob{}, widgets("v1beta1", "one"))
	must(t, waiting, err)
	moved := widgets("v1", "one")
	moved.Manifest = strings.ReplaceAll(moved.Manifest, "acme.example/v1", "new.example/v1")
	waiting, err = reconcile(t, cluster, &testJob{}, moved)
	must(t, waiting, err)
	if diff := cmp.Diff([]string{"ConfigMap here/a", "Widget here/one"}, objectsOf(cluster)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if all := statuses(t, cluster); len(all) != 2 || all[1] != common.StatusDeployed {
		t.Errorf("revisions %v", all)
	}
	var found *unstructured.Unstructured
	if found = cluster.Find("Widget", "here", "one"); found.GetAPIVersion() != "new.example/v1" {
		t.Errorf("it is %v", found)
	}
}

// TestRollbackAcrossVersions brings back an object whose version is not served any more,
// in one that is.
func TestRollbackAcrossVersions(t *testing.T) {
	before := fakecluster.New()
	before.Know(widget, "widgets", meta.RESTScopeNamespace)
	old := widgets("v1beta1", "one", "two")
	old.Manifest = strings.Replace(old.Manifest, "metadata: {name: one}\n", "metadata: {name: one}\nsize: 1\n", 1)
	waiting, err := reconcile(t, before, &testJob{}, old)
	must(t, waiting, err)
	after := served(t, before, "v1")
	after.Fault = func(request fakecluster.Request) fakecluster.Fault {
		if request.Name == "wrong" && request.Verb == "create" {
			return fakecluster.Fault{Before: refused("wrong")}
		}
		return fakecluster.Fault{}
	}
	desiredState := widgets("v1", "one", "wrong")
	desiredState.Manifest = strings.Replace(desiredState.Manifest, "metadata: {name: one}\n", "metadata: {name: one}\nsize: 2\n", 1)
	desiredState.Atomic = true
	if _, err := reconcile(t, after, &testJob{}, desiredState); err == nil || !strings.Contains(err.Error(), "Widget here/wrong") || strings.Contains(err.Error(), "could not be undone") {
		t.Errorf("%v", err)
	}
	one := after.Find("Widget", "here", "one")
	if one.GetAPIVersion() != "acme.example/v1" || one.Object["size"] != int64(1) {
		t.Errorf("it is %v", one.Object)
	}
	if all := statuses(t, after); len(all) != 3 || all[2] != common.StatusDeployed {
		t.Errorf("revisions %v", all)
	}
}
