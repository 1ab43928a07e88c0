package installation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// upgrade is a root whose second specification fails, below a policy.
type upgrade struct {
	*bench
	t *testing.T
	// specs are those that were written, one after the other.
	specs []string
	// fails says with which specifications jobs fail.
	fails func(spec string) bool
	fault *fakeapi.Fault
	// same says that the API server sees no difference between specifications.
	same bool
	// denied is a write that is forbidden, by the verb and the kind; works says that the Execution still does.
	denied  string
	works   bool
	failure *v1alpha1.Error
}

const (
	first  = "first"
	second = "second"
)

// newUpgrade runs the first job to its success.
func newUpgrade(t *testing.T, history *deliveryv1alpha1.History) *upgrade {
	t.Helper()
	objects := installed(t, "web")
	objects[0].(*v1alpha1.Installation).Spec.Exports.Data = nil
	objects[0].SetUID("uid-of-shop")
	objects[0].SetGeneration(1)
	u := &upgrade{bench: newBench(t, objects...), t: t, fails: func(string) bool { return false }, fault: &fakeapi.Fault{At: -1}, failure: &v1alpha1.Error{Reason: "Apply", Message: "it does not work"}}
	u.writeSpec(first, false)
	u.equip(history)
	u.run(20)
	if phase := u.installation(t).Status.InstallationPhase; phase != v1alpha1.InstallationPhases.Succeeded {
		t.Fatalf("the first job ended as %s", phase)
	}
	return u
}

// equip gives the reconciler a policy, and an API server that counts generations.
func (u *upgrade) equip(history *deliveryv1alpha1.History) {
	whole := u.api.(client.WithWatch)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "shop", errors.New("a policy"))
	counting := interceptor.NewClient(whole, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if u.denied == fmt.Sprintf("create %T", object) {
				return forbidden
			}
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			if u.denied == fmt.Sprintf("update %T", object) {
				return forbidden
			}
			if inst, ok := object.(*v1alpha1.Installation); ok {
				live := u.installation(u.t)
				if inst.Generation = live.Generation; u.same {
					inst.Spec = live.Spec
				} else if !equality.Semantic.DeepEqual(live.Spec, inst.Spec) {
					inst.Generation++
					u.specs = append(u.specs, specName(inst))
				}
			}
			return c.Update(ctx, object, options...)
		},
	})
	u.Client = u.fault.Wrap(u.t, counting)
	policy := &deliveryv1alpha1.DeliveryPolicy{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: deliveryv1alpha1.DeliveryPolicySpec{History: history}}
	u.Policies = func(context.Context, string) ([]*deliveryv1alpha1.DeliveryPolicy, error) {
		return []*deliveryv1alpha1.DeliveryPolicy{policy}, nil
	}
}

// specName is what the tests tell specifications apart by: a field that changes nothing for a root alone.
func specName(inst *v1alpha1.Installation) string {
	if inst.Spec.Optimization != nil {
		return second
	}
	return first
}

// writeSpec writes a specification as a user does.
func (u *upgrade) writeSpec(name string, isNew bool) {
	u.t.Helper()
	inst := u.installation(u.t)
	inst.Spec.Optimization = nil
	if name == second {
		inst.Spec.Optimization = &v1alpha1.Optimization{HasNoSiblingExports: true}
	}
	inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
	if isNew {
		inst.Generation++
	}
	if err := u.api.Update(u.t.Context(), inst); err != nil {
		u.t.Fatal(err)
	}
}

// run reconciles so often, and ends the jobs of the Execution. A process that dies is started again.
func (u *upgrade) run(times int) {
	u.t.Helper()
	for range times {
		fired := u.fault.Fired
		_, err := u.Reconcile(u.t.Context(), ctrl.Request{NamespacedName: shop})
		if err != nil && !apierrors.IsConflict(err) && !u.fault.Fired {
			u.t.Fatal(err)
		}
		if u.fault.Fired && !fired && u.fault.Restarts {
			policies := u.Policies
			u.restart()
			u.Policies = policies
		}
		exec := &v1alpha1.Execution{}
		if !u.works && u.api.Get(u.t.Context(), shop, exec) == nil && exec.Status.JobIDFinished != u.installation(u.t).Status.JobID && u.installation(u.t).Status.InstallationPhase == v1alpha1.InstallationPhases.Progressing {
			if u.fails(specName(u.installation(u.t))) {
				u.finish(u.t, "Failed", u.failure)
			} else {
				u.finish(u.t, "Succeeded", nil)
			}
		}
	}
}

// kept are the generations of the revisions.
func (u *upgrade) kept() []int64 {
	u.t.Helper()
	list := &deliveryv1alpha1.DeliveryRevisionList{}
	if err := u.api.List(u.t.Context(), list); err != nil {
		u.t.Fatal(err)
	}
	var generations []int64
	for _, revision := range list.Items {
		generations = append(generations, revision.Spec.Generation)
	}
	slices.Sort(generations)
	return generations
}

var goesBack = &deliveryv1alpha1.History{Revisions: 5, Rollback: deliveryv1alpha1.RollbackOnFailure}

// wantBack checks that the root has the first specification again, and says so.
func (u *upgrade) wantBack(phase v1alpha1.InstallationPhase) {
	u.t.Helper()
	inst := u.installation(u.t)
	said := job.GetCondition(inst.Status.Conditions, deliveryv1alpha1.RolledBackCondition)
	if specName(inst) != first || inst.Status.InstallationPhase != phase || inst.Generation != 3 || len(u.specs) != 1 {
		u.t.Errorf("%s in generation %d of %s after %v", specName(inst), inst.Generation, inst.Status.InstallationPhase, u.specs)
	}
	if said == nil || said.Status != v1alpha1.ConditionTrue || said.Message != "the job of generation 2 has failed, and the specification is that of generation 1 again" {
		u.t.Errorf("the condition says %+v", said)
	}
	// A crash before the request is removed repeats the job.
	recorded := slices.ContainsFunc(inst.Status.History, func(record v1alpha1.JobRecord) bool {
		return record.Trigger == v1alpha1.TriggeredByRollback && record.Generation == 3 && record.Phase == phase
	})
	if !recorded {
		u.t.Errorf("the records say %+v", inst.Status.History)
	}
	if kept := u.kept(); !slices.Equal(kept, []int64{1, 2, 3}) {
		u.t.Errorf("the generations %v are kept", kept)
	}
}

// TestGoBack: a failed upgrade is rolled back once, and says so.
func TestGoBack(t *testing.T) {
	u := newUpgrade(t, goesBack)
	u.fails = func(spec string) bool { return spec == second }
	u.writeSpec(second, true)
	u.run(30)
	u.wantBack(v1alpha1.InstallationPhases.Succeeded)
	if events := strings.Join(u.reported(), "\n"); strings.Count(events, "RolledBack") != 1 || !strings.Contains(events, "has failed with generation 2, so the Installation has the specification of generation 1 again") {
		t.Errorf("events: %s", events)
	}
	// Another client writes the specification again: it is not rolled back again, however often it fails.
	u.writeSpec(second, true)
	u.run(20)
	u.request(t, v1alpha1.ReconcileOperation)
	u.run(20)
	inst := u.installation(t)
	said := job.GetCondition(inst.Status.Conditions, deliveryv1alpha1.RolledBackCondition)
	if specName(inst) != second || said == nil || said.Status != v1alpha1.ConditionFalse || !strings.HasSuffix(said.Message, "it was rolled back before") {
		t.Errorf("%s, %+v", specName(inst), said)
	}
}

// TestKeepingCosts: a new generation costs one write more, another job of it none.
func TestKeepingCosts(t *testing.T) {
	writes := func(history *deliveryv1alpha1.History) int {
		u := newUpgrade(t, history)
		before := len(u.fault.Calls)
		u.writeSpec(second, true)
		u.run(20)
		u.request(t, v1alpha1.ReconcileOperation)
		u.run(20)
		return len(u.fault.Calls) - before
	}
	if without, with := writes(nil), writes(goesBack); with != without+1 {
		t.Errorf("%d writes, and %d without a history", with, without)
	}
}

// TestGoBackFails: a way back that fails is the end of it.
func TestGoBackFails(t *testing.T) {
	u := newUpgrade(t, goesBack)
	u.fails = func(string) bool { return true }
	u.writeSpec(second, true)
	u.run(60)
	u.wantBack(v1alpha1.InstallationPhases.Failed)
}

// TestNoWayBack: what the server leaves to users.
func TestNoWayBack(t *testing.T) {
	for _, test := range []struct {
		reason      string
		history     *deliveryv1alpha1.History
		denied      string
		interrupted bool
		kept        []int64
		said        string
	}{
		{reason: "the policy only keeps", history: &deliveryv1alpha1.History{Revisions: 5}, kept: []int64{1, 2}},
		{reason: "the policy keeps nothing"},
		{reason: "the API server refuses the earlier specification", history: goesBack, denied: "update *v1alpha1.Installation", kept: []int64{1, 2}, said: "the specification of generation 1 is refused now: "},
		{reason: "a user has interrupted the job", history: goesBack, interrupted: true, kept: []int64{1, 2}},
		{reason: "the specification could not be kept", history: goesBack, denied: "create *v1alpha1.DeliveryRevision", kept: []int64{1}, said: "it is not kept, so that it is not known whether it is new"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			u := newUpgrade(t, test.history)
			u.fails = func(spec string) bool { return spec == second }
			u.denied, u.works = test.denied, test.interrupted
			u.writeSpec(second, true)
			if test.interrupted {
				u.run(5)
				u.request(t, v1alpha1.InterruptOperation)
				u.run(5)
				u.works, u.failure = false, &v1alpha1.Error{Operation: "InterruptOperation", Reason: string(reasons.InterruptOperation), Message: "operation was interrupted"}
			}
			u.run(30)
			inst := u.installation(t)
			said := job.GetCondition(inst.Status.Conditions, deliveryv1alpha1.RolledBackCondition)
			if specName(inst) != second || inst.Generation != 2 || inst.Status.InstallationPhase != v1alpha1.InstallationPhases.Failed {
				t.Errorf("%s in generation %d of %s", specName(inst), inst.Generation, inst.Status.InstallationPhase)
			}
			if (said != nil) != (test.said != "") || said != nil && !strings.Contains(said.Message, test.said) {
				t.Errorf("the condition says %+v", said)
			}
			if kept := u.kept(); !slices.Equal(kept, test.kept) {
				t.Errorf("the generations %v are kept, want %v", kept, test.kept)
			}
		})
	}
}

// TestGoBackToTheSame: a write that changes nothing is no way back, and ends with one further job.
func TestGoBackToTheSame(t *testing.T) {
	u := newUpgrade(t, goesBack)
	u.fails, u.same = func(spec string) bool { return spec == second }, true
	u.writeSpec(second, true)
	u.run(60)
	inst := u.installation(t)
	said := job.GetCondition(inst.Status.Conditions, deliveryv1alpha1.RolledBackCondition)
	if inst.Generation != 2 || said == nil || !strings.HasSuffix(said.Message, "is the same for the API server") || len(inst.Status.History) != 3 {
		t.Errorf("generation %d, %d jobs, %+v", inst.Generation, len(inst.Status.History), said)
	}
}

// TestGoBackOverCrashes: whichever write of the way is cut off, before or after its effect, and whether the
// process dies of it or not, the root goes back once.
func TestGoBackOverCrashes(t *testing.T) {
	calls := func(fault fakeapi.Fault) (*upgrade, int) {
		u := newUpgrade(t, goesBack)
		u.fails = func(spec string) bool { return spec == second }
		u.writeSpec(second, true)
		*u.fault = fault
		u.run(40)
		return u, len(u.fault.Calls)
	}
	_, all := calls(fakeapi.Fault{At: -1})
	if all < 8 {
		t.Fatalf("%d writes are not a whole way", all)
	}
	for at := range all {
		for _, lost := range []bool{false, true} {
			for _, restarts := range []bool{false, true} {
				t.Run(fmt.Sprintf("write %d, lost %t, restart %t", at, lost, restarts), func(t *testing.T) {
					u, _ := calls(fakeapi.Fault{At: at, Lost: lost, Restarts: restarts, Err: apierrors.NewInternalError(errors.New("the connection is closed"))})
					u.t = t
					if !u.fault.Fired {
						t.Fatal("nothing was cut off")
					}
					u.wantBack(v1alpha1.InstallationPhases.Succeeded)
					if t.Failed() {
						t.Logf("%s", u.fault.Calls[at])
					}
				})
			}
		}
	}
}
