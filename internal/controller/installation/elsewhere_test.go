package installation

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/controller/installation/decide"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/model/siblings"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/reporter"
	"go.landscaper.dev/internal/runtime/workpool"
)

// planElsewhere lets one plan at a time be made outside the workers. It returns the channel that
// reports a result.
func planElsewhere(t *testing.T, r *Reconciler) <-chan types.NamespacedName {
	t.Helper()
	enqueued := make(chan types.NamespacedName, 1)
	r.PlanAsync(t.Context(), workpool.Options{
		MaxConcurrent: 1, MaxPerNamespace: 1, MaxResults: 1, PreemptAfter: time.Hour, Timeout: time.Hour, Enqueue: func(key types.NamespacedName) { enqueued <- key },
	})
	return enqueued
}

// TestPlannedElsewhere: a plan that needs no external system is made by the worker; any other is
// made outside the workers, once, and the worker does not wait.
func TestPlannedElsewhere(t *testing.T) {
	for _, test := range []struct {
		reason, template string
		outside          int64
		outcome          job.Outcome
	}{
		{"no external system is needed", `deployItems: []`, 0, job.None},
		{"a function reaches a cluster", `deployItems: {{ reach }}`, 1, job.None},
		{"a function panics: the job ends, because another attempt would end the same way", `deployItems: {{ reach "panic" }}`, 1, job.Terminal},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := testbuilders.InstallationOf(t, "{}")
			inst.Spec.Blueprint = v1alpha1.BlueprintDefinition{Inline: &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON(inline(t, test.template))}}
			var calls atomic.Int64
			r := &Reconciler{
				Client: fakeapi.New(t), Now: time.Now, Planner: Planner{Sources: &repocontext.Reader{}, Blueprints: blueprint.NewCache(blueprint.CacheBytes(0)), Functions: func(string, []*v1alpha1.Target) map[string]template.Function {
					return map[string]template.Function{"reach": func(_ context.Context, args []any) (any, error) {
						calls.Add(1)
						if len(args) > 0 {
							panic("a secret value")
						}
						return "[]", nil
					}}
				}},
			}
			r.Reader = r.Client
			enqueued := planElsewhere(t, r)
			seen := &snapshot{Situation: decide.Situation{Family: siblings.Family{Inst: inst}, Inputs: &decide.Inputs{Context: &v1alpha1.Context{}}}, subject: reporter.Installation(inst)}
			made, err := r.planned(t.Context(), seen)
			if seen.ends != (test.outside > 0) {
				t.Fatalf("the worker gets %v", err)
			}
			if test.outside > 0 {
				<-enqueued
				made, err = r.planned(t.Context(), seen)
			}
			if outcome := job.OutcomeOf(err); outcome != test.outcome || (made == nil) != (err != nil) {
				t.Errorf("got %v, outcome %d: %v", made, outcome, err)
			}
			if calls.Load() != test.outside {
				t.Errorf("the outside was reached %d times", calls.Load())
			}
		})
	}
}

// TestPlanOfOneLook: while a plan is made outside the workers, its inputs are not read from the API
// server again, nor do objects in a cache count as used.
func TestPlanOfOneLook(t *testing.T) {
	inst := testbuilders.InstallationOf(t, "imports: {data: [{name: v, dataRef: x}]}")
	inst.Spec.Blueprint = v1alpha1.BlueprintDefinition{Inline: &v1alpha1.InlineBlueprint{Filesystem: v1alpha1.NewAnyJSON(inline(t, `deployItems: {{ reach }}`))}}
	current := fakeapi.New(t, testbuilders.DataOf("x", `"new"`), &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: inst.Namespace, Name: v1alpha1.DefaultContextName}})
	counting := fakeapi.Fault{Reading: true, At: -1}
	r := &Reconciler{
		Client: stale{current, testbuilders.DataOf("x", `"old"`)}, Reader: counting.Wrap(t, current), Now: time.Now,
		Planner: Planner{Sources: &repocontext.Reader{}, Blueprints: blueprint.NewCache(blueprint.CacheBytes(0)), Functions: func(string, []*v1alpha1.Target) map[string]template.Function {
			return map[string]template.Function{"reach": func(context.Context, []any) (any, error) { return nil, errors.New("broken") }}
		}},
	}
	enqueued := planElsewhere(t, r)
	attempt := func() (ends bool, err error) {
		s := snapshotOf(inst)
		if err := r.readInputs(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		err = r.writeChildren(t.Context(), s)
		return s.ends, err
	}
	if ends, err := attempt(); !ends || err != nil {
		t.Fatal(ends, err)
	}
	used, reads := inst.Status.ImportsHash, len(counting.Calls)
	<-enqueued
	if ends, err := attempt(); ends || err == nil {
		t.Fatalf("the plan has become %v", err)
	}
	if reads != 1 || len(counting.Calls) != reads {
		t.Errorf("read were %v", counting.Calls)
	}
	if inst.Status.ImportsHash != used {
		t.Error("the job says that it has used what a cache has shown")
	}
}

// TestUpdateElsewhere: an Installation that only renders its exports again fetches the result from
// outside the workers, too; that was made again and again.
func TestUpdateElsewhere(t *testing.T) {
	b := newBench(t, publishingWith(t, "importExecutions: [{name: e, type: GoTemplate, template: 'bindings: {x: {{ reach }}}'}]\n")...)
	var calls atomic.Int64
	b.Planner.Functions = func(string, []*v1alpha1.Target) map[string]template.Function {
		return map[string]template.Function{"reach": func(context.Context, []any) (any, error) { calls.Add(1); return "y", nil }}
	}
	enqueued := planElsewhere(t, b.Reconciler)
	b.reconcile(t)
	<-enqueued
	b.reconcile(t)
	b.finishWith(t, "https://shop")
	b.reconcile(t)
	b.reconcile(t)

	b.askForUpdate(t, shop.Name)
	b.reconcile(t)
	<-enqueued
	wantWrites(t, "the worker fetches the plan", b.reconcile(t), "create *v1.Secret, status Installation")
	b.finish(t, "Succeeded", nil)
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" || s.DataUpdate == nil || calls.Load() != 2 {
		t.Errorf("%s, %+v, %d calls", s.InstallationPhase, s.DataUpdate, calls.Load())
	}
}

// TestPlanOfDeletedInstallation: the plan of an Installation that no longer exists is dropped.
func TestPlanOfDeletedInstallation(t *testing.T) {
	b := newBench(t)
	enqueued := planElsewhere(t, b.Reconciler)
	if _, how, err := b.Planner.outside.Fetch(shop, workpool.Version{}, func(context.Context) (*planResult, error) { return &planResult{}, nil }); how != workpool.Working || err != nil {
		t.Fatal(err)
	}
	<-enqueued
	b.reconcile(t)
	if b.Planner.outside.Busy(shop) {
		t.Error("its plan is kept")
	}
}

// inline returns the files of a blueprint with one template.
func inline(t *testing.T, template string) []byte {
	t.Helper()
	description, err := json.Marshal(map[string]any{
		"apiVersion": "landscaper.gardener.cloud/v1alpha1", "kind": "Blueprint",
		"deployExecutions": []any{map[string]any{"name": "default", "type": "GoTemplate", "template": template}},
	})
	if err != nil {
		t.Fatal(err)
	}
	files, err := json.Marshal(map[string]string{"blueprint.yaml": string(description)})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestPausesGrowWhileElsewhere: a registry that refuses was asked again every few milliseconds,
// because each dispatch to the pool counted as a success.
func TestPausesGrowWhileElsewhere(t *testing.T) {
	request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: "a"}}
	busy := true
	pauses := stickyLimiter{reporter.NewRateLimiter(), func(types.NamespacedName) bool { return busy }}
	first := pauses.When(request)
	pauses.Forget(request)
	if second := pauses.When(request); second <= first {
		t.Errorf("the pause after a hand-over is %s, it was %s before", second, first)
	}
	busy = false
	pauses.Forget(request)
	if again := pauses.When(request); again != first {
		t.Errorf("the pause after a success is %s, want %s", again, first)
	}
}
