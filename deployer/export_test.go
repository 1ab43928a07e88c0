package deployer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

func TestExport(t *testing.T) {
	mine := []metav1.OwnerReference{{APIVersion: "landscaper.gardener.cloud/v1alpha1", Kind: "DeployItem", Name: "item", UID: "u"}}
	secret := func(name, config string, owners []metav1.OwnerReference) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, OwnerReferences: owners}, Data: map[string][]byte{"config": []byte(config)}}
	}
	ref := func(name string) *v1alpha1.ObjectReference {
		return &v1alpha1.ObjectReference{Namespace: "ns", Name: name}
	}
	// former is an earlier item of the same name, and other an item of another name.
	former := []metav1.OwnerReference{{APIVersion: "landscaper.gardener.cloud/v1alpha1", Kind: "DeployItem", Name: "item", UID: "former"}}
	other := []metav1.OwnerReference{{APIVersion: "landscaper.gardener.cloud/v1alpha1", Kind: "DeployItem", Name: "other", UID: "v"}}
	tests := []struct {
		reason string
		before *corev1.Secret
		ref    *v1alpha1.ObjectReference
		values map[string]any
		remove bool
		in     string
		want   string
		fails  string
	}{
		{"the first export", nil, nil, map[string]any{"a": map[string]any{"b": 1}, "c": nil}, false, "item-export", `{"a":{"b":1},"c":null}`, ""},
		{"nothing to export is an empty object", nil, nil, nil, false, "item-export", `{}`, ""},
		{"an answer was lost", secret("item-export", `{"a":0}`, mine), nil, map[string]any{"a": 1}, false, "item-export", `{"a":1}`, ""},
		{"another value", secret("item-export", `{"a":0}`, mine), ref("item-export"), map[string]any{"a": 1}, false, "item-export", `{"a":1}`, ""},
		{"a name of before stays", secret("mock-export-x", `{"a":0}`, mine), ref("mock-export-x"), map[string]any{"a": 1}, false, "mock-export-x", `{"a":1}`, ""},
		{"the Secret was removed", nil, ref("item-export"), map[string]any{"a": 1}, false, "item-export", `{"a":1}`, ""},
		{"a Secret of another client is not written", secret("item-export", `{"a":0}`, nil), nil, map[string]any{"a": 1}, false, "item-export", `{"a":0}`, "does not belong to the item"},
		{"whatever the status says", secret("other", `{"a":0}`, nil), ref("other"), map[string]any{"a": 1}, false, "other", `{"a":0}`, "does not belong to the item"},
		{"what a deleted item of the same name has left is taken over", secret("item-export", `{"a":0}`, former), nil, map[string]any{"a": 1}, false, "item-export", `{"a":1}`, ""},
		{"the Secret of a deleted item with the same values is taken over", secret("item-export", `{"a":1}`, former), nil, map[string]any{"a": 1}, false, "item-export", `{"a":1}`, ""},
		{"an export of another item is not written", secret("item-export", `{"a":0}`, other), nil, map[string]any{"a": 1}, false, "item-export", `{"a":0}`, "does not belong to the item"},
		{"values that cannot be written", nil, nil, map[string]any{"a": make(chan int)}, false, "", "", "cannot be written as JSON"},
		{"an export that is taken back", secret("item-export", `{"a":0}`, mine), ref("item-export"), nil, true, "item-export", `{}`, ""},
		{"nothing to take back", nil, nil, nil, true, "", "", ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			objects := []client.Object{newItem(func(i *v1alpha1.DeployItem) { i.Status.ExportReference = test.ref })}
			if test.before != nil {
				objects = append(objects, test.before)
			}
			s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
				if test.remove {
					return Done(), item.RemoveExport(ctx)
				}
				return Done(), item.Export(ctx, test.values)
			}}, objects...)
			s.look()
			item := s.item()
			if test.fails != "" {
				if item.Status.LastError == nil || !strings.Contains(item.Status.LastError.Message, test.fails) {
					t.Errorf("last error %+v, want %q", item.Status.LastError, test.fails)
				}
			} else if item.Status.Phase != "Succeeded" || (item.Status.ExportReference == nil) != test.remove {
				t.Errorf("phase %s, exportRef %v", item.Status.Phase, item.Status.ExportReference)
			}
			if test.in == "" {
				return
			}
			stored := &corev1.Secret{}
			if err := s.reconciler.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: test.in}, stored); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(stored.Data["config"])); diff != "" || len(stored.Data) != 1 {
				t.Errorf("keys %v, -want +got\n%s", slices.Collect(maps.Keys(stored.Data)), diff)
			}
			if diff := cmp.Diff(mine, stored.OwnerReferences); diff != "" && test.fails == "" {
				t.Errorf("owner, -want +got\n%s", diff)
			}
		})
	}
}

// TestExportIsStable shows that the same values are not written again.
func TestExportIsStable(t *testing.T) {
	s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
		return Done(), item.Export(ctx, map[string]any{"a": 1, "b": 2})
	}}, newItem())
	s.look()
	version := func() string {
		stored := &corev1.Secret{}
		if err := s.reconciler.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "item-export"}, stored); err != nil {
			t.Fatal(err)
		}
		return stored.ResourceVersion
	}
	before := version()
	item := s.item()
	AssignJob(item, s.clock)
	if err := s.reconciler.client.Status().Update(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	s.look()
	if len(s.script.calls) != 2 || version() != before {
		t.Errorf("%d calls; version %s, before %s", len(s.script.calls), version(), before)
	}
}

// TestExportInARemovalRound: exports are not propagated in a removal round.
func TestExportInARemovalRound(t *testing.T) {
	value := 1
	s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
		if value == 3 {
			return Done(), item.RemoveExport(ctx)
		}
		return Done(), item.Export(ctx, map[string]any{"a": value})
	}}, newItem())
	s.look()
	for _, value = range []int{2, 3} {
		item := s.item()
		AssignJob(item, s.clock)
		item.Status.JobID += "-" + strconv.Itoa(value) + "-removal"
		if err := s.reconciler.client.Status().Update(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		s.look()
		stored := &corev1.Secret{}
		if err := s.reconciler.client.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: "item-export"}, stored); err != nil {
			t.Fatal(err)
		}
		if after := s.item(); string(stored.Data["config"]) != `{"a":1}` || after.Status.ExportReference == nil || after.Status.JobID != after.Status.JobIDFinished {
			t.Errorf("%s, %+v", stored.Data["config"], after.Status)
		}
	}
}

// TestExportsOutliveAWrite loses the write that ends the job, after the deployer has
// noted that its work is done: the status has to say what was exported all the same.
func TestExportsOutliveAWrite(t *testing.T) {
	before := &v1alpha1.ObjectReference{Namespace: "ns", Name: "item-export"}
	tests := []struct {
		reason  string
		before  *v1alpha1.ObjectReference
		trouble error
		export  func(ctx context.Context, item *Item) error
		want    *v1alpha1.ObjectReference
	}{
		{"the API server is away", nil, errors.New("away"), func(ctx context.Context, item *Item) error { return item.Export(ctx, nil) }, before},
		{"another client has annotated the item", nil, apierrors.NewConflict(schema.GroupResource{}, "item", nil), func(ctx context.Context, item *Item) error { return item.Export(ctx, nil) }, before},
		{"an export that is taken back", before, errors.New("away"), func(ctx context.Context, item *Item) error { return item.RemoveExport(ctx) }, nil},
		{"a deployer that exports nothing leaves it", before, errors.New("away"), func(context.Context, *Item) error { return nil }, before},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			exported := false
			s := onStage(t, &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
				if exported {
					return Done(), nil
				}
				exported = true
				return Done(), test.export(ctx, item)
			}}, newItem(func(i *v1alpha1.DeployItem) { i.Status.ExportReference = test.before }),
				exportSecret(newItem(), before, []byte("{}")))
			s.trouble = []error{test.trouble}
			_, _ = s.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
			s.look()
			s.expect("Succeeded", true, "")
			if diff := cmp.Diff(test.want, s.item().Status.ExportReference); diff != "" {
				t.Errorf("exportRef, -want +got\n%s", diff)
			}
		})
	}
}
