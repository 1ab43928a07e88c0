package deletion

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/model/ownership"
)

// two is the item of these tests. Its label is the one of manifest items, as that of heirs.
var two = Owner{Label: ownership.ManifestLabel, Name: "two"}

// relatives are other items whose answers are given.
type relatives struct {
	others           []*v1alpha1.DeployItem
	mayKeep, mayMove bool
	// asked is how often they were asked, and changes is what happens after that many times.
	asked   int
	changes func(asked int, r *relatives)
	err     error
	moved   []string
	// bequeathed are the objects that others are to record; refuses says that they do not.
	bequeathed []string
	refuses    bool
}

func (r *relatives) Others(context.Context) ([]*v1alpha1.DeployItem, error) {
	r.asked++
	if r.changes != nil {
		r.changes(r.asked, r)
	}
	return r.others, r.err
}
func (r *relatives) Stays(context.Context, *v1alpha1.DeployItem) (bool, error) { return true, nil }
func (r *relatives) MayKeep(context.Context) (bool, error)                     { return r.mayKeep, r.err }
func (r *relatives) MayMove(context.Context) (bool, error)                     { return r.mayMove, r.err }
func (r *relatives) Moved(_ context.Context, object string, to *v1alpha1.DeployItem) {
	r.moved = append(r.moved, object+" to "+to.Name)
}

// Bequeath implements Family.
func (r *relatives) Bequeath(_ context.Context, heir *v1alpha1.DeployItem, entry deployer.ManagedResourceStatus) error {
	r.bequeathed = append(r.bequeathed, entry.Resource.Kind+" "+entry.Resource.Name+" to "+heir.Name)
	if r.refuses {
		return errors.New("the heir goes, too")
	}
	return nil
}

// expecting is a manifest item that has a ConfigMap with policy ignore.
func expecting(name string) *v1alpha1.DeployItem {
	item := one(name)
	item.Name, item.Status.ProviderStatus = "expecting", nil
	item.Spec.Configuration.Raw = []byte(strings.ReplaceAll(string(item.Spec.Configuration.Raw), `{"manifest":`, `{"policy":"ignore","manifest":`))
	return item
}

// one is a manifest item that lists ConfigMaps, and has recorded them.
func one(names ...string) *v1alpha1.DeployItem {
	item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Name: "one"}}
	item.Spec.Type = v1alpha1.ManifestDeployItemType
	var manifests, records []string
	for _, name := range names {
		manifests = append(manifests, `{"manifest":{"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"ns","name":"`+name+`"}}}`)
		records = append(records, `{"resource":{"apiVersion":"v1","kind":"ConfigMap","namespace":"ns","name":"`+name+`"}}`)
	}
	item.Spec.Configuration = &runtime.RawExtension{Raw: []byte(`{"manifests":[` + strings.Join(manifests, ",") + `]}`)}
	item.Status.ProviderStatus = &runtime.RawExtension{Raw: []byte(`{"managedResources":[` + strings.Join(records, ",") + `]}`)}
	return item
}

func ofTwo(name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	object.SetNamespace("ns")
	object.SetName(name)
	object.SetLabels(map[string]string{two.Label: two.Name})
	return object
}

// deletionOf is the deletion of ConfigMaps that are on the cluster.
func deletionOf(c *fakecluster.Cluster, family Family, names ...string) *Deletion {
	var inventory apply.Inventory
	for _, name := range names {
		inventory = append(inventory, recorded(ofTwo(name), deployer.ManagePolicy, c.Put(ofTwo(name)).GetUID()))
	}
	c.Counts()
	return New(Plan{Cluster: c, Inventory: inventory, Owner: two, Family: family, Wake: func() {}})
}

func somebodyDeletes(t *testing.T, c *fakecluster.Cluster, name string) {
	t.Helper()
	mapping, err := c.Mapping(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	if err == nil {
		_, err = c.Delete(t.Context(), mapping, "ns", name, metav1.DeleteOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Counts()
}

// state says whose an object is.
func state(c *fakecluster.Cluster, name string) string {
	object := c.Find("ConfigMap", "ns", name)
	switch {
	case object == nil:
		return "gone"
	case ownership.IsReleased(object):
		return "released by " + object.GetAnnotations()[v1alpha1.ReleasedByAnnotation]
	}
	return "of " + object.GetLabels()[two.Label]
}

func TestFates(t *testing.T) {
	label := func(key, value string) func(*unstructured.Unstructured) {
		return func(object *unstructured.Unstructured) {
			labels := object.GetLabels()
			labels[key] = value
			object.SetLabels(labels)
		}
	}
	tests := []struct {
		reason   string
		family   *relatives
		change   func(*unstructured.Unstructured)
		want     string
		kept     bool
		requests map[string]int
	}{
		{"no item wants it", &relatives{}, nil, "gone", false, map[string]int{"get": 1, "delete": 1}},
		{"another item has it in its manifests", &relatives{others: []*v1alpha1.DeployItem{one("a")}}, nil, "of one", false, map[string]int{"get": 1, "patch": 1}},
		{"another item expects it", &relatives{others: []*v1alpha1.DeployItem{expecting("a")}}, nil, "of ", false, map[string]int{"get": 1, "patch": 1}},
		{"another item may want it", &relatives{mayMove: true}, nil, "released by two", true, map[string]int{"get": 1, "patch": 1}},
		{"the object was released in an earlier job", &relatives{mayMove: true}, func(object *unstructured.Unstructured) {
			object.SetAnnotations(map[string]string{v1alpha1.ReleasedByAnnotation: "two"})
		}, "released by two", true, map[string]int{"get": 1}},
		{"another item has taken it", &relatives{mayMove: true}, label(two.Label, "three"), "of three", false, map[string]int{"get": 1}},
		{"an item of another deployer has taken it", &relatives{mayMove: true}, label(ownership.HelmLabel, "chart"), "of ", false, map[string]int{"get": 1, "patch": 1}},
		{"the label of another deployer names the item itself", &relatives{}, label(ownership.HelmLabel, "two"), "gone", false, map[string]int{"get": 1, "delete": 1}},
		{"the object is being deleted already", &relatives{others: []*v1alpha1.DeployItem{one("a")}, mayMove: true}, func(object *unstructured.Unstructured) {
			object.SetFinalizers([]string{"acme.example/hold"})
		}, "of two", false, map[string]int{"get": 1, "delete": 1, "watch": 1}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := fakecluster.New()
			d := deletionOf(c, test.family, "a")
			uid := c.Find("ConfigMap", "ns", "a").GetUID()
			if test.change != nil {
				object := c.Find("ConfigMap", "ns", "a")
				test.change(object)
				c.Put(object)
				if len(object.GetFinalizers()) > 0 {
					somebodyDeletes(t, c, "a")
				}
			}
			if _, err := d.Continue(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := state(c, "a"); got != test.want {
				t.Errorf("it is %s, want %s", got, test.want)
			}
			if object := c.Find("ConfigMap", "ns", "a"); object != nil && object.GetUID() != uid {
				t.Error("it is another one")
			}
			if diff := cmp.Diff(test.requests, c.Counts()); diff != "" {
				t.Errorf("requests, -want +got\n%s", diff)
			}
			if kept := len(d.Kept()) == 1; kept != test.kept || kept && len(d.Gone()) != 0 {
				t.Errorf("kept: %v, gone: %v", d.Kept(), d.Gone())
			}
			if moved := test.want == "of one"; moved != slices.Equal(test.family.moved, []string{"ConfigMap ns/a to one"}) {
				t.Errorf("moved: %v", test.family.moved)
			}
			// Again: what is decided needs no request.
			if _, err := d.Continue(t.Context()); err != nil || len(c.Counts()) != 0 {
				t.Errorf("another look makes requests: %v", err)
			}
			d.Close()
		})
	}
}

// TestFatesBeforeAnything: what is not removed is neither prepared nor touched otherwise, and it is
// settled before the first object is deleted.
func TestFatesBeforeAnything(t *testing.T) {
	c, family := fakecluster.New(), &relatives{others: []*v1alpha1.DeployItem{one("a", "b")}}
	d := deletionOf(c, family, "a", "b", "c")
	for i := range d.plan.Inventory {
		d.plan.Inventory[i].AnnotateBeforeDelete = map[string]string{"going": "true"}
		d.plan.Inventory[i].PatchBeforeDelete = &runtime.RawExtension{Raw: []byte(`{"data":{"going":"true"}}`)}
	}
	d.plan.Groups = []Group{{Types: []deployer.ResourceType{{APIVersion: "v1", Kind: "ConfigMap", Names: []string{"c"}}}}, {Nature: deployer.NamespacedResources, Force: true}}
	var order []string
	c.Fault = func(r fakecluster.Request) fakecluster.Fault {
		if r.Verb != "get" && r.Verb != "list" {
			order = append(order, r.Verb+" "+r.Name)
		}
		return fakecluster.Fault{}
	}
	if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) > 0 {
		t.Fatal(waiting, err)
	}
	slices.Sort(order[:2])
	if diff := cmp.Diff([]string{"patch a", "patch b", "update c", "delete c"}, order); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	for _, name := range []string{"a", "b"} {
		object := c.Find("ConfigMap", "ns", name)
		if state(c, name) != "of one" || object.GetAnnotations()["going"] != "" || object.Object["data"] != nil {
			t.Errorf("%v", object)
		}
	}
}

// TestFatesInTrouble: others change the object in between, answers are lost, requests fail. In the
// end, the object is where it belongs.
func TestFatesInTrouble(t *testing.T) {
	lost := errors.New("no answer")
	heir := func() *relatives { return &relatives{others: []*v1alpha1.DeployItem{one("a")}} }
	unknown := func() *relatives { return &relatives{mayMove: true} }
	once := func(verb string, fault fakecluster.Fault) func(fakecluster.Request) fakecluster.Fault {
		return func(r fakecluster.Request) fakecluster.Fault {
			if r.Verb != verb || verb == "" {
				return fakecluster.Fault{}
			}
			verb = ""
			return fault
		}
	}
	touch := func(object *unstructured.Unstructured) { object.Object["data"] = map[string]any{"x": "1"} }
	take := func(object *unstructured.Unstructured) { object.SetLabels(map[string]string{two.Label: "three"}) }
	tests := []struct {
		reason string
		family *relatives
		fault  func(fakecluster.Request) fakecluster.Fault
		want   string
	}{
		{"another client changes it before the transfer", heir(), once("patch", fakecluster.Fault{Meanwhile: touch}), "of one"},
		{"another item takes it before the transfer", heir(), once("patch", fakecluster.Fault{Meanwhile: take}), "of three"},
		{"the answer to the transfer is lost", heir(), once("patch", fakecluster.Fault{After: lost}), "of one"},
		{"the transfer fails", heir(), once("patch", fakecluster.Fault{Before: lost}), "of one"},
		{"another client changes it before the release", unknown(), once("patch", fakecluster.Fault{Meanwhile: touch}), "released by two"},
		{"another item takes it before the release", unknown(), once("patch", fakecluster.Fault{Meanwhile: take}), "of three"},
		{"the answer to the release is lost", unknown(), once("patch", fakecluster.Fault{After: lost}), "released by two"},
		{"the release fails", unknown(), once("patch", fakecluster.Fault{Before: lost}), "released by two"},
		{"the read fails", heir(), once("get", fakecluster.Fault{Before: lost}), "of one"},
		{"which item wants the object cannot be found out", &relatives{others: []*v1alpha1.DeployItem{one("a")}, err: lost, changes: func(asked int, r *relatives) {
			if asked > 1 {
				r.err = nil
			}
		}}, nil, "of one"},
		{"another item takes it just before the deletion", &relatives{}, once("delete", fakecluster.Fault{Meanwhile: take}), "of three"},
		{"an heir appears just before the deletion", &relatives{changes: func(asked int, r *relatives) {
			if asked > 1 {
				r.others = []*v1alpha1.DeployItem{one("a")}
			}
		}}, once("delete", fakecluster.Fault{Before: lost}), "of one"},
		{"the heir drops the object during the transfer", &relatives{others: []*v1alpha1.DeployItem{one("a")}, changes: func(asked int, r *relatives) {
			if asked > 1 {
				r.others = nil
			}
		}}, nil, "gone"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := fakecluster.New()
			d := deletionOf(c, test.family, "a")
			c.Fault = test.fault
			var err error
			for range 3 {
				if _, err = d.Continue(t.Context()); err == nil {
					break
				}
				if c.Find("ConfigMap", "ns", "a") == nil {
					t.Fatal("it is lost")
				}
			}
			if got := state(c, "a"); err != nil || got != test.want {
				t.Errorf("it is %s, %v, want %s", got, err, test.want)
			}
			// Another process, after a crash before the end was stored, finds the same.
			again := New(d.plan)
			if _, err := again.Continue(t.Context()); err != nil || state(c, "a") != test.want {
				t.Errorf("then it is %s, %v", state(c, "a"), err)
			}
		})
	}
}

// TestFatesWithFewRights: an item that may update objects, and not patch them, transfers them all
// the same. An item without both rights keeps objects that others may still want without marking
// them.
func TestFatesWithFewRights(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "a", nil)
	tests := []struct {
		reason string
		family *relatives
		may    string
		want   string
		kept   int
		fails  bool
	}{
		{"an heir", &relatives{others: []*v1alpha1.DeployItem{one("a")}}, "update", "of one", 0, false},
		{"another item may want it", &relatives{mayMove: true}, "update", "released by two", 1, false},
		{"an heir, and no right", &relatives{others: []*v1alpha1.DeployItem{one("a")}}, "", "of two", 0, true},
		{"another item may want it, and the right is missing", &relatives{mayMove: true}, "", "of two", 1, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := fakecluster.New()
			d := deletionOf(c, test.family, "a")
			c.Fault = func(r fakecluster.Request) fakecluster.Fault {
				if r.Verb == "patch" || r.Verb == "update" && test.may != "update" {
					return fakecluster.Fault{Before: forbidden}
				}
				return fakecluster.Fault{}
			}
			_, err := d.Continue(t.Context())
			if got := state(c, "a"); got != test.want || (err != nil) != test.fails || len(d.Kept()) != test.kept {
				t.Errorf("it is %s, %v, %d kept", got, err, len(d.Kept()))
			}
		})
	}
}

// TestHeirDuringTheWait: an item may begin to want an object while the deletion waits for objects
// that are deleted before.
func TestHeirDuringTheWait(t *testing.T) {
	c, family := fakecluster.New(), &relatives{}
	d := deletionOf(c, family, "a", "b")
	object := c.Find("ConfigMap", "ns", "b")
	object.SetFinalizers([]string{"acme.example/hold"})
	c.Put(object)
	d.plan.Groups = []Group{{Types: []deployer.ResourceType{{APIVersion: "v1", Kind: "ConfigMap", Names: []string{"b"}}}}, {Nature: deployer.NamespacedResources}}
	if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) != 1 {
		t.Fatal(waiting, err)
	}
	family.others = []*v1alpha1.DeployItem{one("a")}
	c.Remove("ConfigMap", "ns", "b")
	if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) > 0 || state(c, "a") != "of one" {
		t.Errorf("it waits for %v, %v, and the object is %s", waiting, err, state(c, "a"))
	}
	d.Close()
}

// TestNamespaceInUse: a Namespace in which another item has something stays, with an owner that removes
// it later.
func TestNamespaceInUse(t *testing.T) {
	for _, test := range []struct {
		reason  string
		leaving bool
		// outside says that the other item has its object elsewhere.
		outside, refuses bool
		want             string
		fails            bool
		used             []string
	}{
		{reason: "the item stays", want: "released by two", used: []string{"Namespace ns stays as long as deploy item one has ConfigMap ns/a in it"}},
		{reason: "the item goes", leaving: true, want: "of one"},
		{reason: "the other item goes, too, and the item waits", leaving: true, refuses: true, want: "of two", fails: true},
		{reason: "nothing is in the Namespace", leaving: true, outside: true, want: "gone"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c, family := fakecluster.New(), &relatives{others: []*v1alpha1.DeployItem{one("a")}, refuses: test.refuses}
			if !test.outside {
				c.Put(ofTwo("a"))
			}
			space := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
			space.SetName("ns")
			space.SetLabels(map[string]string{two.Label: two.Name})
			d := New(Plan{Cluster: c, Inventory: apply.Inventory{recorded(space, deployer.ManagePolicy, c.Put(space).GetUID())}, Owner: two, Family: family, Terminating: test.leaving, Wake: func() {}})
			if _, err := d.Continue(t.Context()); (err != nil) != test.fails {
				t.Errorf("%v", err)
			}
			got := "gone"
			if live := c.Find("Namespace", "", "ns"); live != nil && ownership.IsReleased(live) {
				got = "released by " + live.GetAnnotations()[v1alpha1.ReleasedByAnnotation]
			} else if live != nil {
				got = "of " + live.GetLabels()[two.Label]
			}
			if got != test.want || !slices.Equal(d.InUse(), test.used) || len(d.Kept()) > 0 {
				t.Errorf("it is %s, want %s; in use: %v, kept: %v", got, test.want, d.InUse(), d.Kept())
			}
			if moves := test.want == "of one"; moves != slices.Equal(family.bequeathed, []string{"Namespace ns to one", "Namespace ns to one"}) || moves != (len(family.moved) == 1) {
				t.Errorf("bequeathed: %v, moved: %v", family.bequeathed, family.moved)
			}
			d.Close()
		})
	}
}
