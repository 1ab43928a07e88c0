package installation

import (
	"errors"
	"reflect"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/component/registry"
	"go.landscaper.dev/internal/controller/installation/treesize"
	"go.landscaper.dev/internal/landscape/deliveryplan"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/model/delivery"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/expectations/leftover"
	"go.landscaper.dev/internal/runtime/job"
)

// TestForgotten: no store remembers anything of an Installation that no longer exists.
func TestForgotten(t *testing.T) {
	for _, test := range []struct {
		reason string
		end    func(t *testing.T, b *bench)
	}{
		{"another client has removed the finalizer, and the watch reports the deletion", func(t *testing.T, b *bench) { b.memory.forget(b.installation(t)) }},
		{"the finalizer is removed", func(t *testing.T, b *bench) {
			if err := b.api.Delete(t.Context(), b.installation(t)); err != nil {
				t.Fatal(err)
			}
			b.settle(t)
		}},
		{"the Installation is missing when its status is written", func(t *testing.T, b *bench) {
			b.request(t, "reconcile")
			b.before = func(request string) {
				if request != "status Installation" {
					return
				}
				b.before = nil
				inst := b.installation(t)
				inst.Finalizers = nil
				if err := errors.Join(b.api.Update(t.Context(), inst), b.api.Delete(t.Context(), inst)); err != nil {
					t.Error(err)
				}
			}
			if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop}); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, installed(t, "web")...)
			b.settle(t)
			inst := b.installation(t)
			fill(t, b, inst)
			if len(leftover.Of(b.Reconciler, string(inst.UID))) == 0 {
				t.Fatal("nothing is remembered, and nothing tested")
			}
			test.end(t, b)
			// What follows from given siblings is never looked up by an object, and is bounded.
			b.memory.relations = siblings.Cache{}
			if left := leftover.Of(b.Reconciler, string(inst.UID), inst.Name); len(left) > 0 {
				t.Errorf("remembered are %q", left)
			}
		})
	}
}

// fill remembers everything of an Installation that can be remembered.
func fill(t *testing.T, b *bench, inst *v1alpha1.Installation) {
	t.Helper()
	known := b.memory.Of(inst.UID)
	for _, of := range []mark{unstored, pickedUp, terminating, executionDeleted} {
		known.marks.note(of, true)
	}
	known.kept.Store(inst.Generation + 1)
	known.created.Expect(inst.Name, b.Now())
	known.tree.Plant(map[*treesize.Member]plan.Usage{&known.tree: {Installations: 1}})
	if err := known.outage.Classify(b.Now(), &job.Error{Cause: registry.ErrStalled}); job.OutcomeOf(err) != job.Transient {
		t.Fatal(err)
	}
	if _, behind := expectations.RetryAfter(b.memory.arrivals.Await(&v1alpha1.DataObject{}, shop, &known.waits, shop)); !behind {
		t.Fatal("nothing is awaited")
	}
	if _, err := b.planStore().Save(t.Context(), inst, []byte("plan"), true); err != nil {
		t.Fatal(err)
	}
	known.Written.Record(inst)
	known.ahead.set(&delivery.Planned{}, &deliveryplan.Permits{})
	record := reflect.ValueOf(known).Elem()
	for i := range record.NumField() {
		if record.Field(i).IsZero() {
			t.Errorf("nothing is remembered as %s: add it here", record.Type().Field(i).Name)
		}
	}
}
