package deletion

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/cluster/watch"
	"go.landscaper.dev/internal/deploy/apply"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/model/ownership"
)

var owner = Owner{Label: "test.example/deployitem", Name: "item"}

func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

// recorded is the inventory entry of an object.
func recorded(object *unstructured.Unstructured, policy deployer.ManifestPolicy, uid types.UID) deployer.ManagedResourceStatus {
	return deployer.ManagedResourceStatus{Policy: policy, Resource: corev1.ObjectReference{
		APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(), UID: uid,
	}}
}

const (
	own     = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, labels: {test.example/deployitem: item}}}`
	foreign = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, labels: {test.example/deployitem: other}}}`
	bare    = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}`
	helms   = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: web, meta.helm.sh/release-namespace: ns}}}`
	held    = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, labels: {test.example/deployitem: item}, finalizers: [acme.example/hold]}}`
)

func TestOneObject(t *testing.T) {
	const right = types.UID("right")
	tests := []struct {
		reason   string
		live     string
		policy   deployer.ManifestPolicy
		uid      types.UID
		requests map[string]int
		left     bool
		waits    string
	}{
		{"an object with our label is deleted in the version that was read", own, "manage", right, map[string]int{"get": 1, "delete": 1}, false, ""},
		{"the recorded object stays if another item has taken it over", foreign, "manage", right, map[string]int{"get": 1}, true, ""},
		{"an object without a label is known by its identity", bare, "manage", right, map[string]int{"get": 1, "delete": 1}, false, ""},
		{"an object that a Helm release has taken over stays", helms, "manage", right, map[string]int{"get": 1}, true, ""},
		{"an object without a label and with another identity stays", bare, "manage", "wrong", map[string]int{"get": 1}, true, ""},
		{"an object without a label and a recorded identity stays", bare, "manage", "", map[string]int{"get": 1}, true, ""},
		{"fallback needs the label", bare, "fallback", right, map[string]int{"get": 1}, true, ""},
		{"an object without a recorded identity is deleted by its label", own, "manage", "", map[string]int{"get": 1, "delete": 1}, false, ""},
		{"an object of another owner stays", foreign, "manage", "", map[string]int{"get": 1}, true, ""},
		{"a replaced object of another owner stays", foreign, "manage", "wrong", map[string]int{"get": 1}, true, ""},
		{"a replaced object that is ours is deleted", own, "manage", "wrong", map[string]int{"get": 1, "delete": 1}, false, ""},
		{"what is kept costs nothing", own, "keep", right, map[string]int{}, true, ""},
		{"what is ignored costs nothing", own, "ignore", right, map[string]int{}, true, ""},
		{"immutable objects are deleted", own, "immutable", right, map[string]int{"get": 1, "delete": 1}, false, ""},
		{"an immutable object that another item has taken over stays", foreign, "immutable", right, map[string]int{"get": 1}, true, ""},
		{"fallback deletes an object that is ours", own, "fallback", right, map[string]int{"get": 1, "delete": 1}, false, ""},
		{"fallback leaves an object that is not ours any more", foreign, "fallback", right, map[string]int{"get": 1}, true, ""},
		{"an object that does not exist any more counts as deleted", "", "manage", right, map[string]int{"get": 1}, false, ""},
		{"an object without a recorded UID that does not exist any more counts as deleted", "", "manage", "", map[string]int{"get": 1}, false, ""},
		{"a finalizer is waited for", held, "manage", right, map[string]int{"get": 1, "delete": 1, "watch": 1}, true, "the end of ConfigMap ns/a (finalizer acme.example/hold)"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := fakecluster.New()
			uid := test.uid
			if test.live != "" {
				if stored := c.Put(parse(t, test.live)); uid == right {
					uid = stored.GetUID()
				}
			}
			d := New(Plan{Cluster: c, Inventory: apply.Inventory{recorded(parse(t, own), test.policy, uid)}, Owner: owner, Wake: func() {}})
			waiting, err := d.Continue(t.Context())
			if err != nil || strings.Join(waiting, ", ") != test.waits {
				t.Errorf("it waits for %v, error %v, want %q", waiting, err, test.waits)
			}
			if diff := cmp.Diff(test.requests, c.Counts()); diff != "" {
				t.Errorf("requests, -want +got\n%s", diff)
			}
			if left := c.Find("ConfigMap", "ns", "a") != nil; left != test.left {
				t.Errorf("it is left: %t", left)
			}
			if forgotten := len(d.Gone()) == 1; forgotten != (test.waits == "") {
				t.Errorf("it need not be remembered any more: %t", forgotten)
			}
			d.Close()
			if c.Watched() != 0 {
				t.Errorf("%d watches are left", c.Watched())
			}
		})
	}
}

// TestFormerRelease: objects of an item's own former release are known by their identity, as long
// as the release does not belong to another owner.
func TestFormerRelease(t *testing.T) {
	for of, goes := range map[ownership.HelmRelease]bool{{Name: "web", Namespace: "ns"}: true, {Name: "web", Namespace: "other"}: false, {}: false} {
		c := fakecluster.New()
		stored := c.Put(parse(t, helms))
		former := owner
		former.Release = of
		d := New(Plan{Cluster: c, Inventory: apply.Inventory{recorded(stored, "manage", stored.GetUID())}, Owner: former, Wake: func() {}})
		if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) > 0 {
			t.Fatalf("%v, %v", waiting, err)
		}
		if gone := c.Find("ConfigMap", "ns", "a") == nil; gone != goes {
			t.Errorf("release %v: it is deleted: %t", of, gone)
		}
	}
}

// overtaken is a cluster whose object is changed just before its first deletion.
type overtaken struct {
	*fakecluster.Cluster
	by *unstructured.Unstructured
}

func (o *overtaken) Delete(ctx context.Context, mapping *meta.RESTMapping, namespace, name string, options metav1.DeleteOptions) (*unstructured.Unstructured, error) {
	if o.by != nil {
		o.Put(o.by)
		o.by = nil
	}
	return o.Cluster.Delete(ctx, mapping, namespace, name, options)
}

// TestTakenOverBetweenReadAndDeletion: another item takes an object over after it was read,
// and keeps it; a change that leaves the owner alone only lets the object be read again.
func TestTakenOverBetweenReadAndDeletion(t *testing.T) {
	for _, test := range []struct {
		reason, then string
		left         bool
	}{
		{"another item takes it over", foreign, true},
		{"another client changes something else", strings.ReplaceAll(own, "labels: {", "annotations: {x: y}, labels: {"), false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			c := fakecluster.New()
			uid := c.Put(parse(t, own)).GetUID()
			now := parse(t, test.then)
			now.SetUID(uid)
			d := New(Plan{Cluster: &overtaken{Cluster: c, by: now}, Inventory: apply.Inventory{recorded(parse(t, own), "manage", uid)}, Owner: owner, Wake: func() {}})
			if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) > 0 || len(d.Gone()) != 1 {
				t.Errorf("waiting %v, error %v, gone %v", waiting, err, d.Gone())
			}
			if left := c.Find("ConfigMap", "ns", "a") != nil; left != test.left {
				t.Errorf("it is left: %t", left)
			}
		})
	}
}

// TestSeveralAreReadTogether: many objects of one kind and namespace cost one list.
func TestSeveralAreReadTogether(t *testing.T) {
	c := fakecluster.New()
	var inventory apply.Inventory
	for _, name := range []string{"a", "b", "c", "taken"} {
		text := own
		if name == "taken" {
			text = foreign
		}
		object := parse(t, strings.ReplaceAll(text, "name: a", "name: "+name))
		inventory = append(inventory, recorded(object, "manage", c.Put(object).GetUID()))
	}
	d := New(Plan{Cluster: c, Inventory: inventory, Owner: owner, Wake: func() {}})
	if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) > 0 || len(d.Gone()) != 4 {
		t.Errorf("waiting %v, error %v, gone %v", waiting, err, d.Gone())
	}
	if diff := cmp.Diff(map[string]int{"list": 1, "get": 1, "delete": 3}, c.Counts()); diff != "" {
		t.Errorf("requests, -want +got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ConfigMap ns/taken"}, c.Names()); diff != "" {
		t.Errorf("left, -want +got\n%s", diff)
	}
}

func TestOrder(t *testing.T) {
	c := fakecluster.New()
	var inventory apply.Inventory
	for _, text := range []string{
		`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: x}}`,
		`{apiVersion: v1, kind: Namespace, metadata: {name: ns, finalizers: [acme.example/hold]}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns}}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: b, namespace: ns, finalizers: [acme.example/hold]}}`,
	} {
		object := parse(t, text)
		inventory = append(inventory, recorded(object, "manage", c.Put(object).GetUID()))
	}
	wakes := 0
	d := New(Plan{Cluster: c, Inventory: inventory, Owner: owner, Wake: func() { wakes++ }})
	for i, step := range []struct {
		waits string
		left  []string
		free  string
	}{
		{"the end of Secret ns/b (finalizer acme.example/hold)", []string{"CustomResourceDefinition /x", "Namespace /ns", "Secret ns/b"}, "Secret|ns|b"},
		{"the end of Namespace ns (finalizer acme.example/hold)", []string{"CustomResourceDefinition /x", "Namespace /ns"}, "Namespace||ns"},
		{"", nil, ""},
	} {
		waiting, err := d.Continue(t.Context())
		if err != nil || strings.Join(waiting, ", ") != step.waits {
			t.Fatalf("step %d: it waits for %v, error %v", i, waiting, err)
		}
		if diff := cmp.Diff(step.left, c.Names()); diff != "" {
			t.Errorf("step %d: left, -want +got\n%s", i, diff)
		}
		if step.free != "" {
			before, name := wakes, strings.Split(step.free, "|")
			c.Remove(name[0], name[1], name[2])
			if wakes == before {
				t.Errorf("step %d: nothing was triggered", i)
			}
		}
	}
	if len(d.Gone()) != 4 || d.Left() != 0 {
		t.Errorf("gone %v, left %d", d.Gone(), d.Left())
	}
}

func TestErrors(t *testing.T) {
	forbidden := errors.New("forbidden")
	tests := []struct {
		reason string
		verb   string
		uid    types.UID
		fault  fakecluster.Fault
	}{
		{"a deletion that is refused", "delete", "uid-1", fakecluster.Fault{Before: forbidden}},
		{"a deletion whose answer is lost", "delete", "uid-1", fakecluster.Fault{After: forbidden}},
		{"an object that cannot be looked at", "get", "", fakecluster.Fault{Before: forbidden}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c := fakecluster.New()
			c.Put(parse(t, own))
			c.Fault = func(request fakecluster.Request) fakecluster.Fault {
				if request.Verb == test.verb {
					return test.fault
				}
				return fakecluster.Fault{}
			}
			d := New(Plan{Cluster: c, Inventory: apply.Inventory{recorded(parse(t, own), "manage", test.uid)}, Owner: owner, Wake: func() {}})
			if _, err := d.Continue(t.Context()); !errors.Is(err, forbidden) || !strings.Contains(err.Error(), "delete ConfigMap ns/a") {
				t.Errorf("error %v", err)
			}
			if len(d.Gone()) != 0 || d.Left() != 1 {
				t.Errorf("it is forgotten: gone %v, left %d", d.Gone(), d.Left())
			}
			c.Fault = nil
			if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) != 0 || len(c.Names()) != 0 {
				t.Errorf("the next attempt: waiting %v, error %v, left %v", waiting, err, c.Names())
			}
		})
	}
}

func TestOneErrorDoesNotStopOthers(t *testing.T) {
	c := fakecluster.New()
	var inventory apply.Inventory
	for _, name := range []string{"a", "b", "c"} {
		object := parse(t, strings.ReplaceAll(own, "name: a", "name: "+name))
		inventory = append(inventory, recorded(object, "manage", c.Put(object).GetUID()))
	}
	c.Fault = func(request fakecluster.Request) fakecluster.Fault {
		if request.Name == "b" {
			return fakecluster.Fault{Before: errors.New("forbidden")}
		}
		return fakecluster.Fault{}
	}
	d := New(Plan{Cluster: c, Inventory: inventory, Owner: owner, Wake: func() {}})
	if _, err := d.Continue(t.Context()); err == nil {
		t.Error("no error")
	}
	if diff := cmp.Diff([]string{"ConfigMap ns/b"}, c.Names()); diff != "" {
		t.Errorf("left, -want +got\n%s", diff)
	}
}

func TestUnknownKindIsDeleted(t *testing.T) {
	c := fakecluster.New()
	d := New(Plan{Cluster: c, Inventory: apply.Inventory{recorded(parse(t, `{apiVersion: acme.example/v1, kind: Unknown, metadata: {name: a}}`), "manage", "u")}, Owner: owner, Wake: func() {}})
	if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) != 0 || len(d.Gone()) != 1 {
		t.Errorf("with the kind its objects are deleted: waiting %v, error %v, gone %v", waiting, err, d.Gone())
	}
}

func TestWithoutWatch(t *testing.T) {
	c := fakecluster.New()
	c.NoWatch = errors.New("forbidden")
	stored := c.Put(parse(t, held))
	d := New(Plan{Cluster: c, Inventory: apply.Inventory{recorded(stored, "manage", stored.GetUID())}, Owner: owner, Wake: func() {}})
	if _, err := d.Continue(t.Context()); err == nil || !strings.Contains(err.Error(), "it still exists (finalizer acme.example/hold) and cannot be watched") {
		t.Errorf("error %v: only a timer can tell when to look again", err)
	}
	c.Remove("ConfigMap", "ns", "a")
	if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) != 0 {
		t.Errorf("waiting %v, error %v", waiting, err)
	}
}

func TestRemains(t *testing.T) {
	object := func(version, uid string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{}}
		o.SetResourceVersion(version)
		o.SetUID(types.UID(uid))
		return o
	}
	tests := []struct {
		reason string
		state  watch.State
		now    string
		gone   bool
	}{
		{"the watch knows nothing yet", watch.State{}, "10", false},
		{"the object is missing, and the watch has seen the deletion", watch.State{Known: true, Version: "11"}, "10", true},
		{"the object is missing, but the watch is older than the deletion", watch.State{Known: true, Version: "9"}, "10", false},
		{"the object still exists", watch.State{Known: true, Object: object("12", "u"), Version: "12"}, "12", false},
		{"an older state of the object says nothing", watch.State{Known: true, Object: object("8", "u"), Version: "12"}, "10", false},
		{"a new object has the name", watch.State{Known: true, Object: object("12", "v"), Version: "12"}, "10", true},
		{"an older object of the name says nothing", watch.State{Known: true, Object: object("8", "v"), Version: "8"}, "10", false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			now, gone := remains(object("10", "u"), test.state)
			if gone != test.gone || now.GetResourceVersion() != test.now {
				t.Errorf("gone %t, version %s", gone, now.GetResourceVersion())
			}
		})
	}
}

func TestAwait(t *testing.T) {
	c := fakecluster.New()
	wakes := 0
	d := Awaiting(c, func() { wakes++ })
	left := c.Put(parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: ns, finalizers: [x/y], deletionTimestamp: "2026-01-01T00:00:00Z"}}`))
	mapping, err := c.Mapping(t.Context(), left.GroupVersionKind())
	if err != nil {
		t.Fatal(err)
	}
	d.Await(mapping, left)
	if waiting, err := d.Continue(t.Context()); err != nil || !slices.Equal(waiting, []string{"the end of ConfigMap ns/a (finalizer x/y)"}) {
		t.Errorf("waiting %v, error %v", waiting, err)
	}
	if got := c.Counts()["delete"]; got != 0 {
		t.Errorf("%d deletions of an object that another client deletes", got)
	}
	c.Remove("ConfigMap", "ns", "a")
	if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) != 0 || wakes == 0 {
		t.Errorf("waiting %v, error %v, %d triggers", waiting, err, wakes)
	}
}

// TestVersionThatIsServedNoMore removes an object that was recorded with a version of its
// kind that the cluster does not serve any more: the object is still there.
func TestVersionThatIsServedNoMore(t *testing.T) {
	for reason, served := range map[string]bool{"another version is served": true, "no version is": false} {
		t.Run(reason, func(t *testing.T) {
			c := fakecluster.New()
			object := parse(t, `{apiVersion: acme.example/v1, kind: Tenant, metadata: {name: a, namespace: ns}}`)
			uid := types.UID("u")
			if served {
				c.Know(object.GroupVersionKind(), "tenants", meta.RESTScopeNamespace)
				uid = c.Put(object).GetUID()
			}
			before := parse(t, `{apiVersion: acme.example/v1beta1, kind: Tenant, metadata: {name: a, namespace: ns}}`)
			d := New(Plan{Cluster: c, Inventory: apply.Inventory{recorded(before, "manage", uid)}, Owner: owner, Wake: func() {}})
			defer d.Close()
			if waiting, err := d.Continue(t.Context()); err != nil || len(waiting) > 0 {
				t.Errorf("it waits for %v, error %v", waiting, err)
			}
			if left := c.Find("Tenant", "ns", "a"); left != nil || len(d.Gone()) != 1 {
				t.Errorf("left is %v, %d are deleted", left, len(d.Gone()))
			}
		})
	}
}

// TestForceDeleteMeetsAConflict removes the finalizers although another client changes the object
// at the same time, again and again: a watch that others have begun may have reported the change
// before this deletion listened, so that nothing would be triggered.
func TestForceDeleteMeetsAConflict(t *testing.T) {
	tests := []struct {
		reason    string
		conflicts int
		fails     bool
	}{{"once", 1, false}, {"three times", 3, false}, {"always", 1000, true}}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			c, left := fakecluster.New(), test.conflicts
			uid := c.Put(parse(t, held)).GetUID()
			c.Fault = func(request fakecluster.Request) fakecluster.Fault {
				if request.Verb != "update" || left == 0 {
					return fakecluster.Fault{}
				}
				left--
				return fakecluster.Fault{Before: apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "a", nil)}
			}
			d := New(Plan{Cluster: c, Inventory: apply.Inventory{recorded(parse(t, held), "manage", uid)}, Owner: owner, Groups: []Group{{Nature: "namespaced-resources", Force: true}}, Wake: func() {}})
			defer d.Close()
			waiting, err := d.Continue(t.Context())
			if (err != nil) != test.fails || len(waiting) > 0 || (c.Find("ConfigMap", "ns", "a") != nil) != test.fails {
				t.Errorf("it waits for %v, error %v", waiting, err)
			}
		})
	}
}
