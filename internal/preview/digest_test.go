package preview

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component/descriptor"
	"go.landscaper.dev/internal/landscape/diff"
	"go.landscaper.dev/internal/model/dataflow"
)

// someBasis is the same each time, in objects of its own.
func someBasis() *Basis {
	object := func(name string, replicas int64) map[string]any {
		return map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"namespace": "n", "name": name, "uid": "uid-" + name, "resourceVersion": "7", "generation": int64(3), "managedFields": []any{"a"}, "labels": map[string]any{"team": "a"}},
			"spec":     map[string]any{"replicas": replicas, "paused": false},
			"status":   map[string]any{"readyReplicas": replicas},
		}
	}
	inst := func(name string) *v1alpha1.Installation {
		i := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, UID: types.UID("uid-" + name), ResourceVersion: "11"}}
		i.Spec.Context = "default"
		return i
	}
	template := func(name string) *v1alpha1.DeployItemTemplate {
		return &v1alpha1.DeployItemTemplate{Name: name, Type: "t", Configuration: &runtime.RawExtension{Raw: []byte(`{"size":1}`)}}
	}
	imports := dataflow.Imports{
		Data:    map[string]dataflow.DataImport{"password": {Value: v1alpha1.NewAnyJSON([]byte(`"1234"`)), Salt: "uid-secret"}, "size": {Value: v1alpha1.NewAnyJSON([]byte("1"))}},
		Targets: map[string]*v1alpha1.Target{"host": {ObjectMeta: metav1.ObjectMeta{Name: "host", UID: "uid-host", Generation: 1}}},
	}
	return &Basis{
		Installations: []InstallationBasis{
			{Path: "shop", Object: inst("shop"), Imports: imports, Component: &descriptor.Descriptor{Name: "c", Version: "1.0.0", Resources: []descriptor.Resource{{}}}, Blueprint: "sha256:b"},
			{Path: "shop/web", Object: inst("web")},
		},
		Items: []ItemBasis{
			{Path: "shop/db", Template: template("db"), Cluster: "https://one", Objects: []diff.Object{
				{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "n", Name: "a", Before: object("a", 1), After: object("a", 2)},
				{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "n", Name: "b", After: object("b", 1), Applied: object("b", 1)},
				{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "n", Name: "c", Before: object("c", 1)},
				{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "n", Name: "d", Before: object("d", 1), After: object("d", 1)},
				{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "n", Name: "e", Unknown: "its hook is known only then"},
				{APIVersion: "apps/v1", Kind: "Deployment", Namespace: "n", Name: "f", Before: object("f", 1), After: object("f", 5), Applied: object("f", 5), Replaced: true},
			}},
			{Path: "shop/web/page", Template: template("page"), Unknown: true},
			{Path: "shop/old"},
		},
		Follows: []string{"reports", "mail"},
		Waiting: []Waiting{{Path: "shop/late", Reason: "it waits"}, {Path: "shop/later", Reason: "it waits"}},
	}
}

func set(object map[string]any, value any, path ...string) {
	for _, name := range path[:len(path)-1] {
		object = object[name].(map[string]any)
	}
	object[path[len(path)-1]] = value
}

// TestDigest: whatever a plan follows from is in its name, and nothing else.
func TestDigest(t *testing.T) {
	digest := func(b *Basis) string {
		t.Helper()
		found, err := b.Digest()
		if err != nil || !strings.HasPrefix(found, "sha256:") || len(found) != len("sha256:")+64 {
			t.Fatalf("%q: %v", found, err)
		}
		return found
	}
	db := func(b *Basis) *ItemBasis { return &b.Items[0] }
	type row struct {
		reason string
		change func(*Basis)
	}
	seen := map[string]string{digest(someBasis()): "nothing"}
	for _, test := range []row{
		{"the specification", func(b *Basis) { b.Installations[0].Object.Spec.Context = "other" }},
		{"the specification of a subinstallation", func(b *Basis) { b.Installations[1].Object.Spec.Context = "other" }},
		{"another Installation of the same name", func(b *Basis) { b.Installations[0].Object.UID = "uid-again" }},
		{"a further subinstallation", func(b *Basis) {
			b.Installations = append(b.Installations, InstallationBasis{Path: "shop/new", Object: &v1alpha1.Installation{}})
		}},
		{"the value of an import", func(b *Basis) {
			b.Installations[0].Imports.Data["size"] = dataflow.DataImport{Value: v1alpha1.NewAnyJSON([]byte("2"))}
		}},
		{"the value of a Secret", func(b *Basis) {
			b.Installations[0].Imports.Data["password"] = dataflow.DataImport{Value: v1alpha1.NewAnyJSON([]byte(`"1235"`)), Salt: "uid-secret"}
		}},
		{"the same value in another Secret", func(b *Basis) {
			b.Installations[0].Imports.Data["password"] = dataflow.DataImport{Value: v1alpha1.NewAnyJSON([]byte(`"1234"`)), Salt: "uid-other"}
		}},
		{"a Target that was changed", func(b *Basis) { b.Installations[0].Imports.Targets["host"].Generation = 2 }},
		{"another Target of the same name", func(b *Basis) { b.Installations[0].Imports.Targets["host"].UID = "uid-again" }},
		{"the version of the component", func(b *Basis) { b.Installations[0].Component.Version = "1.0.1" }},
		{"a digest in the component", func(b *Basis) {
			b.Installations[0].Component.Resources[0].Digest = &descriptor.Digest{Value: "d"}
		}},
		{"the content of the blueprint", func(b *Basis) { b.Installations[0].Blueprint = "sha256:c" }},
		{"the configuration of an item", func(b *Basis) { db(b).Template.Configuration.Raw = []byte(`{"size":2}`) }},
		{"the order of items", func(b *Basis) { db(b).Template.DependsOn = []string{"web"} }},
		{"the cluster of an item", func(b *Basis) { db(b).Cluster = "https://two" }},
		{"an item that goes", func(b *Basis) { b.Items[1].Template = nil }},
		{"an item that stays after all", func(b *Basis) { b.Items = b.Items[:2] }},
		{"an item of which something became known", func(b *Basis) { b.Items[1].Unknown = false }},
		{"what a field is before its change", func(b *Basis) { set(db(b).Objects[0].Before, int64(9), "spec", "replicas") }},
		{"what a field is after its change", func(b *Basis) { set(db(b).Objects[0].After, int64(9), "spec", "replicas") }},
		{"a field that another client has changed, and that is changed back", func(b *Basis) { set(db(b).Objects[0].Before, true, "spec", "paused") }},
		{"an object that was created again meanwhile", func(b *Basis) { set(db(b).Objects[0].Before, "uid-again", "metadata", "uid") }},
		{"what is written of a new object", func(b *Basis) { set(db(b).Objects[1].Applied, int64(9), "spec", "replicas") }},
		{"a new object that exists by now", func(b *Basis) { db(b).Objects[1].Before = map[string]any{"metadata": map[string]any{"uid": "x"}} }},
		{"an object to delete that was created again meanwhile", func(b *Basis) { set(db(b).Objects[2].Before, "uid-again", "metadata", "uid") }},
		{"an object that is not deleted", func(b *Basis) { db(b).Objects[2].Stays = "because it is used" }},
		{"an unchanged object that was changed by another client", func(b *Basis) { set(db(b).Objects[3].Before, int64(9), "spec", "replicas") }},
		{"an object of which something became known", func(b *Basis) { db(b).Objects[4].Unknown = "" }},
		{"an object that is created again", func(b *Basis) { set(db(b).Objects[5].Applied, int64(9), "spec", "replicas") }},
		{"an object that moves", func(b *Basis) { db(b).Objects[0].MovesFrom, db(b).Objects[0].MovesTo = "shop/old", "shop/db" }},
		{"an object of an earlier cluster", func(b *Basis) { db(b).Objects[2].Cluster = "https://old" }},
		{"an object less", func(b *Basis) { db(b).Objects = db(b).Objects[1:] }},
		{"another job has run since", func(b *Basis) { b.After = "job" }},
		{"the deletion of the root", func(b *Basis) { b.Deletion = true }},
		{"a root that follows", func(b *Basis) { b.Follows = b.Follows[:1] }},
		{"a part that waits", func(b *Basis) { b.Waiting = b.Waiting[:1] }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := someBasis()
			test.change(b)
			found := digest(b)
			if other, known := seen[found]; known {
				t.Errorf("it is the plan of %q", other)
			}
			seen[found] = test.reason
		})
	}
	for _, test := range []row{
		{"another time", func(b *Basis) {
			b.Installations[0].Object.CreationTimestamp = metav1.NewTime(time.Unix(1, 0))
			set(db(b).Objects[0].After, "2026-01-01T00:00:00Z", "metadata", "creationTimestamp")
			b.Waiting[0].Reason, db(b).Objects[4].Unknown = "it waits for 3s", "its hook is known in 3s"
		}},
		{"status and versions of an Installation", func(b *Basis) {
			b.Installations[0].Object.Status.JobID, b.Installations[0].Object.ResourceVersion = "job", "12"
			b.Installations[0].Object.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
		}},
		{"versions and status of an object", func(b *Basis) {
			set(db(b).Objects[0].Before, "8", "metadata", "resourceVersion")
			set(db(b).Objects[0].Before, int64(4), "metadata", "generation")
			set(db(b).Objects[0].Before, []any{"b"}, "metadata", "managedFields")
			set(db(b).Objects[0].Before, int64(0), "status", "readyReplicas")
		}},
		{"a field that the plan leaves alone", func(b *Basis) {
			for _, side := range []map[string]any{db(b).Objects[0].Before, db(b).Objects[0].After} {
				set(side, "b", "metadata", "labels", "team")
			}
		}},
		{"what an API server would fill into a new object", func(b *Basis) { set(db(b).Objects[1].After, "uid-dry-run", "metadata", "uid") }},
		{"the content of an object that goes", func(b *Basis) { set(db(b).Objects[2].Before, int64(9), "spec", "replicas") }},
		{"a mirror in which the component was found, and a signature", func(b *Basis) {
			b.Installations[0].Component.RepositoryContexts = []descriptor.Typed{{}}
			b.Installations[0].Component.Signatures = []descriptor.Signature{{}}
		}},
		{"the order", func(b *Basis) {
			slices.Reverse(b.Installations)
			slices.Reverse(b.Items[0].Objects)
			slices.Reverse(b.Items)
			slices.Reverse(b.Follows)
			slices.Reverse(b.Waiting)
		}},
	} {
		t.Run(test.reason+" is no other plan", func(t *testing.T) {
			b := someBasis()
			test.change(b)
			if digest(b) != digest(someBasis()) {
				t.Error("it is another plan")
			}
		})
	}
}

// TestDigestIsWhole: a field that is added to a basis is added to its digest.
func TestDigestIsWhole(t *testing.T) {
	for _, test := range []struct {
		of     any
		fields int
	}{{Basis{}, 6}, {InstallationBasis{}, 5}, {ItemBasis{}, 5}} {
		if found := reflect.TypeOf(test.of); found.NumField() != test.fields {
			t.Errorf("%s has %d fields: add the new one to its digest and to the rows of TestDigest", found, found.NumField())
		}
	}
}
