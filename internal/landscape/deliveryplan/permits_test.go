package deliveryplan

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/plan"
)

var sealer = Sealer{Key: []byte("key"), Root: "u", Digest: "sha256:aa"}

// shop is what a root writes: two items and a subinstallation, with a Target.
func shop() Rendered {
	template := func(name string) v1alpha1.DeployItemTemplate {
		return v1alpha1.DeployItemTemplate{Name: name, Type: "t", Target: &v1alpha1.ObjectReference{Name: "host"}, Configuration: &runtime.RawExtension{Raw: []byte(`{"size":1}`)}}
	}
	sub := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "random", Annotations: map[string]string{v1alpha1.SubinstallationNameAnnotation: "web"}}}
	sub.Spec.Context = "default"
	config := v1alpha1.NewAnyJSON([]byte(`{"kubeconfig":"one"}`))
	return Rendered{
		Path:     "shop",
		Lineage:  []*v1alpha1.Installation{{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
		Children: &plan.Children{DeployItems: v1alpha1.DeployItemTemplateList{template("db"), template("cache")}, Subinstallations: []plan.Subinstallation{{Name: "web", Installation: sub}}},
		Targets:  []*v1alpha1.Target{{ObjectMeta: metav1.ObjectMeta{Name: "host"}, Spec: v1alpha1.TargetSpec{Configuration: &config}}},
	}
}

// TestCheck: what a job may write after its plan was approved.
func TestCheck(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*Rendered)
		want   string
	}{
		{"what was planned", func(*Rendered) {}, ""},
		{"in another order", func(r *Rendered) {
			items := r.Children.DeployItems
			items[0], items[1] = items[1], items[0]
		}, ""},
		{"a subinstallation has a name of its own", func(r *Rendered) { r.Children.Subinstallations[0].Installation.Name = "other" }, ""},
		{"another configuration", func(r *Rendered) {
			r.Children.DeployItems[0].Configuration = &runtime.RawExtension{Raw: []byte(`{"size":2}`)}
		}, "item db of shop is another one now"},
		{"another type", func(r *Rendered) { r.Children.DeployItems[0].Type = "other" }, "item db of shop is another one now"},
		{"another Target", func(r *Rendered) {
			r.Children.DeployItems[0].Target = &v1alpha1.ObjectReference{Name: "edge"}
		}, "item db of shop is another one now"},
		{"a Target that leads elsewhere by now", func(r *Rendered) {
			config := v1alpha1.NewAnyJSON([]byte(`{"kubeconfig":"two"}`))
			r.Targets[0].Spec.Configuration = &config
		}, "item cache of shop is another one now"},
		{"an item more", func(r *Rendered) {
			r.Children.DeployItems = append(r.Children.DeployItems, v1alpha1.DeployItemTemplate{Name: "evil"})
		}, "item evil of shop is not part of it"},
		{"an item less would be deleted", func(r *Rendered) { r.Children.DeployItems = r.Children.DeployItems[:1] }, "item cache of shop would not be written, and be deleted if it exists"},
		{"another item of the name of a subinstallation", func(r *Rendered) { r.Children.DeployItems[0].Name = "web" }, "item web of shop is not part of it"},
		{"a subinstallation with other imports", func(r *Rendered) {
			r.Children.Subinstallations[0].Installation.Spec.Imports.Data = []v1alpha1.DataImport{{Name: "a", DataRef: "b"}}
		}, "subinstallation web of shop is another one now"},
		{"a subinstallation more", func(r *Rendered) {
			r.Children.Subinstallations = append(r.Children.Subinstallations, plan.Subinstallation{Name: "evil", Installation: &v1alpha1.Installation{}})
		}, "subinstallation evil of shop is not part of it"},
		{"a subinstallation less would be deleted", func(r *Rendered) { r.Children.Subinstallations = nil }, "subinstallation web of shop would not be written, and be deleted if it exists"},
		{"an Installation that the plan does not have", func(r *Rendered) { r.Path = "shop/evil" }, "Installation shop/evil is not part of it"},
		{"one that only the job could work out", func(r *Rendered) { r.Path = "shop/late" }, ""},
		{"one below that", func(r *Rendered) { r.Path = "shop/late/db" }, ""},
		{"one whose name only begins so", func(r *Rendered) { r.Path = "shop/later" }, "Installation shop/later is not part of it"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			permits, err := sealer.Permits([]Rendered{shop()}, []string{"shop/late"})
			if err != nil {
				t.Fatal(err)
			}
			now := shop()
			test.change(&now)
			written, err := sealer.Children(now)
			if err != nil {
				t.Fatal(err)
			}
			if got := permits.Check(now.Path, written); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestNamesOfCopies: a template that uses the name of a copied Target gets another one in the job than in a
// plan without the Installations above. Only that difference does not count.
func TestNamesOfCopies(t *testing.T) {
	at := func(parent, text, target string) Rendered {
		root := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
		root.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "cluster", Target: "host"}, {Name: "other", Target: "edge"}}
		web := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: parent, Labels: map[string]string{v1alpha1.EncompassedByLabel: "shop"}}}
		web.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "cluster", Target: "cluster"}, {Name: "other", Target: "other"}}
		leaf := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "leaf", Labels: map[string]string{v1alpha1.EncompassedByLabel: parent}}}
		leaf.Spec.Imports.Targets = []v1alpha1.TargetImport{{Name: "cluster", Target: "cluster"}, {Name: "other", Target: "other"}}
		name := func(of string) string {
			return v1alpha1.GenerateDataObjectName(v1alpha1.InstallationScope(parent), of)
		}
		text = strings.NewReplacer("CLUSTER", name("cluster"), "OTHER", name("other")).Replace(text)
		sub := &v1alpha1.Installation{}
		sub.Spec.ImportDataMappings = map[string]v1alpha1.AnyJSON{"at": v1alpha1.NewAnyJSON([]byte(text))}
		return Rendered{
			Path: "shop/web/leaf", Lineage: []*v1alpha1.Installation{root, web, leaf},
			Children: &plan.Children{
				DeployItems:      v1alpha1.DeployItemTemplateList{{Name: "db", Type: "t", Target: &v1alpha1.ObjectReference{Name: name(target)}, Configuration: &runtime.RawExtension{Raw: []byte(text)}}},
				Subinstallations: []plan.Subinstallation{{Name: "sub", Installation: sub}},
			},
			Targets: []*v1alpha1.Target{{ObjectMeta: metav1.ObjectMeta{Name: name("cluster")}}, {ObjectMeta: metav1.ObjectMeta{Name: name("other")}}},
		}
	}
	for _, test := range []struct {
		reason, planned, now, target string
		want                         string
	}{
		{"the same Target", `{"on":"CLUSTER"}`, `{"on":"CLUSTER"}`, "cluster", ""},
		{"several times, as a part of a text", `{"on":"at CLUSTER, OTHER and CLUSTER"}`, `{"on":"at CLUSTER, OTHER and CLUSTER"}`, "cluster", ""},
		{"another Target in the text", `{"on":"CLUSTER"}`, `{"on":"OTHER"}`, "cluster", "item db of shop/web/leaf is another one now"},
		{"the name of the source in place of the copy", `{"on":"CLUSTER"}`, `{"on":"host"}`, "cluster", "item db of shop/web/leaf is another one now"},
		{"a text that looks like what is compared", `{"on":"CLUSTER"}`, `{"on":"\u0000host\u0000"}`, "cluster", "item db of shop/web/leaf is another one now"},
		{"deployed to another Target", `{"on":"CLUSTER"}`, `{"on":"CLUSTER"}`, "other", "item db of shop/web/leaf is another one now"},
		{"any other difference", `{"on":"CLUSTER"}`, `{"on":"CLUSTER","more":1}`, "cluster", "item db of shop/web/leaf is another one now"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			permits, err := sealer.Permits([]Rendered{at("web", test.planned, "cluster")}, nil)
			if err != nil {
				t.Fatal(err)
			}
			written, err := sealer.Children(at("web-x7k2p", test.now, test.target))
			if err != nil {
				t.Fatal(err)
			}
			if got := permits.Check("shop/web/leaf", written); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestPathOf: an Installation counts by the name that its parent has noted, and as its parent has written it.
func TestPathOf(t *testing.T) {
	for _, test := range []struct {
		reason     string
		change     func(root, child *v1alpha1.Installation)
		path, want string
	}{
		{"as it was written", func(_, _ *v1alpha1.Installation) {}, "shop/web", ""},
		{"not one that its parent has written", func(root, _ *v1alpha1.Installation) { root.Status.SubInstCache = nil }, "", "Installation web-1 is not one that its parent has written"},
		{"another specification", func(_, child *v1alpha1.Installation) { child.Generation++ }, "", "Installation web-1 was changed after its parent had written it"},
		{"deleted and created again by another client", func(_, child *v1alpha1.Installation) { child.UID = "other" }, "", "Installation web-1 was changed after its parent had written it"},
		{"an earlier release has written it", func(root, child *v1alpha1.Installation) {
			root.Status.SubInstCache.ActiveSubs[0].Written = nil
		}, "shop/web", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			root := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
			child := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "web-1", UID: "u", Generation: 3}}
			written := WrittenOf(child)
			root.Status.SubInstCache = &v1alpha1.SubInstCache{ActiveSubs: []v1alpha1.SubNamePair{{SpecName: "web", ObjectName: "web-1", Written: &written}}}
			test.change(root, child)
			if path, trouble := PathOf([]*v1alpha1.Installation{root, child}); path != test.path || trouble != test.want {
				t.Errorf("%q, %q, want %q, %q", path, trouble, test.path, test.want)
			}
		})
	}
}

// TestSums: only the server can make a sum, and one of another plan is of no use.
func TestSums(t *testing.T) {
	permits, err := sealer.Permits([]Rendered{shop()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		reason string
		other  Sealer
	}{
		{"without the key", Sealer{Key: []byte("other"), Root: "u", Digest: "sha256:aa"}},
		{"of another Installation of the name", Sealer{Key: []byte("key"), Root: "v", Digest: "sha256:aa"}},
		{"of another plan", Sealer{Key: []byte("key"), Root: "u", Digest: "sha256:bb"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			written, err := test.other.Children(shop())
			if err != nil {
				t.Fatal(err)
			}
			if got := permits.Check("shop", written); !strings.HasSuffix(got, "is another one now") {
				t.Errorf("it is permitted: %q", got)
			}
		})
	}
}
