package apply

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/runtime/job"
)

// managedBy adds an owner of fields to an object.
func managedBy(object *unstructured.Unstructured, manager string, operation metav1.ManagedFieldsOperationType, fields string) *unstructured.Unstructured {
	owned := &metav1.FieldsV1{}
	owned.SetRawBytes([]byte(fields))
	object.SetManagedFields(append(object.GetManagedFields(), metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: owned,
	}))
	return object
}

// TestForeignMetadata shows which labels and annotations survive a replacement.
func TestForeignMetadata(t *testing.T) {
	const live = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"ours":"1","theirs":"1","both":"1","nobodys":"1"},"annotations":{"note":"1"}}}`
	object := parse(t, live)
	managedBy(object, "us", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:labels":{"f:ours":{},"f:both":{}}}}`)
	managedBy(object, "flux", metav1.ManagedFieldsOperationApply, `{"f:metadata":{"f:labels":{".":{},"f:theirs":{},"f:both":{}},"f:annotations":{"f:note":{},"f:gone":{}}}}`)
	managedBy(object, "manifest-deployer-controller", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:labels":{"f:nobodys":{}}}}`)
	managedBy(object, "broken", metav1.ManagedFieldsOperationUpdate, `[]`)
	got := replacement(object, parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"both":"2"}}}`), "us")
	if diff := cmp.Diff(map[string]string{"theirs": "1", "both": "2"}, got.GetLabels()); diff != "" {
		t.Errorf("labels, -want +got\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"note": "1"}, got.GetAnnotations()); diff != "" {
		t.Errorf("annotations, -want +got\n%s", diff)
	}
}

func TestAdopted(t *testing.T) {
	tests := []struct {
		reason, manager string
		operation       metav1.ManagedFieldsOperationType
		want            bool
	}{
		{"a field that we wrote in another way", "us", metav1.ManagedFieldsOperationUpdate, true},
		{"a field that upstream wrote", "manifest-deployer-controller", metav1.ManagedFieldsOperationUpdate, true},
		{"a field that upstream's Helm deployer wrote", "helm-deployer-controller", metav1.ManagedFieldsOperationUpdate, true},
		{"a field that we applied", "us", metav1.ManagedFieldsOperationApply, false},
		{"a field that another client wrote", "kubectl", metav1.ManagedFieldsOperationUpdate, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			object := managedBy(parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`), test.manager, test.operation, `{"f:data":{"f:x":{}}}`)
			upgraded := adopted(object, "us")
			if (upgraded != nil) != test.want {
				t.Fatalf("adopted: %v", upgraded)
			}
			if upgraded == nil {
				return
			}
			if fields := upgraded.GetManagedFields(); len(fields) != 1 || fields[0].Manager != "us" || fields[0].Operation != metav1.ManagedFieldsOperationApply {
				t.Errorf("fields %v", fields)
			}
		})
	}
}

func TestPointers(t *testing.T) {
	for _, wrong := range []string{"", "/", "spec", "/kind", "/apiVersion", "/metadata", "/metadata/name", "/metadata/namespace"} {
		if _, err := ParsePointer(wrong); err == nil {
			t.Errorf("%q was accepted", wrong)
		}
	}
	tests := []struct{ reason, pointer, live, want string }{
		{"the field of the live object stays", "/spec/replicas", `{"spec":{"replicas":7}}`, `{"spec":{"replicas":7,"other":1}}`},
		{"a field that the live object does not have", "/spec/replicas", `{"spec":{}}`, `{"spec":{"other":1}}`},
		{"the live object has not even its parent", "/spec/replicas", `{}`, `{"spec":{"other":1}}`},
		{"the manifest has not its parent", "/status/a", `{"status":{"a":1}}`, `{"spec":{"replicas":1,"other":1},"status":{"a":1}}`},
		{"a slash in a name", "/metadata/annotations/acme.example~1x", `{"metadata":{"annotations":{"acme.example/x":"1"}}}`, `{"metadata":{"annotations":{"acme.example/x":"1"}},"spec":{"replicas":1,"other":1}}`},
		{"a tilde in a name", "/spec/a~0b", `{"spec":{"a~b":1}}`, `{"spec":{"replicas":1,"other":1,"a~b":1}}`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			pointer, err := ParsePointer(test.pointer)
			if err != nil {
				t.Fatal(err)
			}
			manifest := parse(t, `{"spec":{"replicas":1,"other":1}}`).Object
			pointer.carry(parse(t, test.live).Object, manifest)
			if diff := cmp.Diff(parse(t, test.want).Object, manifest); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

const webConfig = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"data":{"x":"1"}}`

func TestAnnotateBeforeCreate(t *testing.T) {
	for _, strategy := range []deployer.UpdateStrategy{"update", "patch"} {
		t.Run(string(strategy), func(t *testing.T) {
			cluster := fakecluster.New()
			object := prepared(t, cluster, "manage", nil, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","annotations":{"a":"1","b":"1"}}}`)
			object.AnnotateBeforeCreate = map[string]string{"b": "2", "c": "2"}
			outcome, err := applier(cluster, strategy).Apply(t.Context(), object)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{"a": "1", "b": "2", "c": "2"}, outcome.Stored.GetAnnotations()); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			object.Known = true
			if outcome, err = applier(cluster, strategy).Apply(t.Context(), object); err != nil || outcome.Stored.GetAnnotations()["b"] != "1" {
				t.Errorf("the annotations are for the creation only: %v, error %v", outcome.Stored.GetAnnotations(), err)
			}
		})
	}
}

func TestServerSide(t *testing.T) {
	known := Inventory{{}}
	known[0].Resource.APIVersion, known[0].Resource.Kind, known[0].Resource.Namespace, known[0].Resource.Name = "v1", "ConfigMap", "ns", "a"
	tests := []struct {
		reason   string
		live     bool
		known    Inventory
		policy   string
		requests map[string]int
		data     map[string]any
	}{
		{"what is new costs one request", false, nil, "manage", map[string]int{"apply": 1}, map[string]any{"x": "1"}},
		{"what exists is taken over", true, nil, "manage", map[string]int{"apply": 1}, map[string]any{"x": "1", "y": "0"}},
		{"what is known is looked at: fields may have to be adopted", true, known, "manage", map[string]int{"get": 1, "apply": 1}, map[string]any{"x": "1", "y": "0"}},
		{"immutable leaves what exists", true, nil, "immutable", map[string]int{"get": 1}, map[string]any{"x": "0", "y": "0"}},
		{"immutable creates what does not", false, nil, "immutable", map[string]int{"get": 1, "apply": 1}, map[string]any{"x": "1"}},
		{"fallback leaves what is not ours", true, nil, "fallback", map[string]int{"get": 1}, map[string]any{"x": "0", "y": "0"}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			if test.live {
				cluster.Put(parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns"},"data":{"x":"0","y":"0"}}`))
			}
			if _, err := applier(cluster, "apply").Apply(t.Context(), prepared(t, cluster, deployer.ManifestPolicy(test.policy), test.known, webConfig)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.requests, cluster.Counts()); diff != "" {
				t.Errorf("requests, -want +got\n%s", diff)
			}
			if diff := cmp.Diff(test.data, cluster.Find("ConfigMap", "ns", "a").Object["data"]); diff != "" {
				t.Errorf("data, -want +got\n%s", diff)
			}
		})
	}
}

func TestServerSideTerminating(t *testing.T) {
	cluster := fakecluster.New()
	cluster.Put(parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns","finalizers":["x/y"],"deletionTimestamp":"2026-01-01T00:00:00Z"}}`))
	_, err := applier(cluster, "apply").Apply(t.Context(), prepared(t, cluster, "manage", nil, webConfig))
	var terminating *Terminating
	if !errors.As(err, &terminating) {
		t.Errorf("what was applied is deleted with the old object: %v", err)
	}
}

// TestConflictOfOwners shows that a conflict about a field names it, is not tried
// again, and ends the job.
func TestConflictOfOwners(t *testing.T) {
	cluster := fakecluster.New()
	conflict := apierrors.NewApplyConflict([]metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "flux"`, Field: ".data.x"}}, "conflict")
	cluster.Put(managedBy(managedBy(parse(t, webConfig), "flux", metav1.ManagedFieldsOperationApply, `{"f:data":{"f:x":{}}}`), "test", metav1.ManagedFieldsOperationApply, `{}`))
	cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
		if request.Verb == "get" {
			return fakecluster.Fault{}
		}
		return fakecluster.Fault{Before: conflict}
	}
	object := prepared(t, cluster, "manage", nil, webConfig)
	object.FailOnConflict = true
	_, err := applier(cluster, "apply").Apply(t.Context(), object)
	if err == nil || !strings.Contains(err.Error(), `field .data.x is owned by another field manager (the object has fields of "flux"): take the fields out of the manifest, or take them over with conflicts: force`) || job.OutcomeOf(err) != job.Terminal {
		t.Errorf("error %v", err)
	}
	if got := cluster.Counts()["apply"]; got != 1 {
		t.Errorf("%d attempts", got)
	}
}

// TestRecreate replaces an object with an immutable field, but only if the new one
// would be taken.
func TestRecreate(t *testing.T) {
	immutable := apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a", field.ErrorList{field.Forbidden(field.NewPath("data"), "field is immutable")})
	wrong := apierrors.NewBadRequest("wrong")
	tests := []struct {
		reason   string
		recreate bool
		trial    error
		finalize bool
		replaced bool
		fails    bool
	}{
		{"a recreation that was not requested", false, nil, false, false, true},
		{"the object is replaced", true, nil, false, true, false},
		{"the old one ends first", true, nil, true, false, true},
		{"the manifest is wrong, too: nothing is lost", true, wrong, false, false, true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			cluster := fakecluster.New()
			live := parse(t, strings.Replace(webConfig, `"1"`, `"0"`, 1))
			if test.finalize {
				live.SetFinalizers([]string{"x/y"})
			}
			old := cluster.Put(live)
			cluster.Fault = func(request fakecluster.Request) fakecluster.Fault {
				switch request.Verb {
				case "update":
					return fakecluster.Fault{Before: immutable}
				case "apply":
					return fakecluster.Fault{Before: test.trial}
				}
				return fakecluster.Fault{}
			}
			object := prepared(t, cluster, "manage", nil, webConfig)
			object.Recreate, object.Known = test.recreate, true
			_, err := applier(cluster, "update").Apply(t.Context(), object)
			if (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
			var terminating *Terminating
			if test.finalize != errors.As(err, &terminating) {
				t.Errorf("it waits for the end of the old one: %v", err)
			}
			now := cluster.Find("ConfigMap", "ns", "a")
			if replaced := now != nil && now.GetUID() != old.GetUID(); replaced != test.replaced {
				t.Errorf("replaced: %t", replaced)
			}
			if !test.finalize && now == nil {
				t.Error("the object is lost")
			}
		})
	}
}
