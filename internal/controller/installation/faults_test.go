package installation

import (
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/desired"
)

// settle reconciles all Installations, and plays the part of the controller of Executions, until
// nothing is written any more. Failures are retried.
func (b *bench) settle(t *testing.T) {
	t.Helper()
	for range 60 {
		list := &v1alpha1.InstallationList{}
		if err := b.api.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		b.writes = nil
		busy := false
		for i := range list.Items {
			result, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
			// After a conflict or a failed cleanup, the Installation is reconciled again soon.
			busy = busy || err != nil || result.RequeueAfter > 0 && result.RequeueAfter <= cleanUpRetry
		}
		if played := b.play(t); !busy && !played && len(b.writes) == 0 {
			return
		}
	}
	t.Fatalf("it does not come to rest: %s", b.digest(t))
}

// restart begins with another process. Running work of the old one continues.
func (b *bench) restart() {
	b.Reconciler = &Reconciler{
		Client: b.Client, Reader: b.Reader, Recorders: b.Recorders, Order: b.Order, Now: b.Now, NewJobID: b.NewJobID,
		Planner: Planner{Sources: b.Planner.Sources, Blueprints: b.Planner.Blueprints, Functions: b.Planner.Functions}, Parallelizer: b.Parallelizer,
	}
}

// play ends the job of each Execution, and removes the finalizers of deleted ones. It returns
// whether there was anything to do.
func (b *bench) play(t *testing.T) (played bool) {
	t.Helper()
	list := &v1alpha1.ExecutionList{}
	if err := b.api.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		exec, inst := &list.Items[i], &v1alpha1.Installation{}
		if exec.DeletionTimestamp != nil {
			exec.Finalizers = nil
			if err := b.api.Update(t.Context(), exec); err != nil {
				t.Fatal(err)
			}
			played = true
			continue
		}
		if err := b.api.Get(t.Context(), client.ObjectKeyFromObject(exec), inst); err != nil {
			t.Fatal(err)
		}
		if inst.Status.InstallationPhase != "Progressing" || exec.Status.JobIDFinished == inst.Status.JobID {
			continue
		}
		played = true
		object, change, err := desired.ItemExports(exec, map[string]any{"web": map[string]any{"url": "https://shop"}}, nil)
		if err != nil || change != desired.Create {
			t.Fatal(change, err)
		}
		if err := b.api.Create(t.Context(), object); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
		exec.Status.JobID, exec.Status.JobIDFinished, exec.Status.ExecutionPhase = inst.Status.JobID, inst.Status.JobID, "Succeeded"
		if err := b.api.Status().Update(t.Context(), exec); err != nil {
			t.Fatal(err)
		}
	}
	return played
}

// digest lists all objects, but not which attempt has made them.
func (b *bench) digest(t *testing.T) string {
	t.Helper()
	installations, executions, data := &v1alpha1.InstallationList{}, &v1alpha1.ExecutionList{}, &v1alpha1.DataObjectList{}
	targets, secrets := &v1alpha1.TargetList{}, &corev1.SecretList{}
	for _, list := range []client.ObjectList{installations, executions, data, targets, secrets} {
		if err := b.api.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
	}
	var said []string
	for i := range installations.Items {
		inst := &installations.Items[i]
		s := &inst.Status
		line := fmt.Sprintf("Installation %s: %s, annotations %v, finalizers %v, %d to tell, history", inst.Name, s.InstallationPhase, slices.Sorted(maps.Keys(inst.Annotations)), inst.Finalizers, len(s.DependentsToTrigger))
		if s.JobID != s.JobIDFinished {
			line += " (unfinished)"
		}
		// A request is met at least once: repeated jobs count as one.
		last := ""
		for _, entry := range s.History {
			if job := fmt.Sprintf(" %s/%s", entry.Trigger, entry.Phase); job != last {
				line, last = line+job, job
			}
		}
		conditions := slices.Clone(s.Conditions)
		slices.SortFunc(conditions, func(a, b v1alpha1.Condition) int { return strings.Compare(string(a.Type), string(b.Type)) })
		for _, condition := range conditions {
			line += fmt.Sprintf(", %s=%s", condition.Type, condition.Status)
		}
		if s.LastError != nil {
			line += ", " + s.LastError.Message
		}
		said = append(said, line)
	}
	for i := range executions.Items {
		said = append(said, fmt.Sprintf("Execution %s with %d items", executions.Items[i].Name, len(executions.Items[i].Spec.DeployItems)))
	}
	for i := range data.Items {
		said = append(said, fmt.Sprintf("DataObject %s: %s", data.Items[i].Name, data.Items[i].Data.RawMessage))
	}
	for i := range targets.Items {
		said = append(said, fmt.Sprintf("Target %s: %s", targets.Items[i].Name, targets.Items[i].Spec.Type))
	}
	for i := range secrets.Items {
		said = append(said, "Secret "+secrets.Items[i].Name)
	}
	return strings.Join(said, "\n")
}

// scene is something that happens in a namespace, step by step; after each all comes to
// rest.
type scene struct {
	reason  string
	objects func(*testing.T) []client.Object
	// known says that an earlier scene begins in the same way, so that only calls of
	// the steps go wrong here.
	known bool
	steps []func(*testing.T, *bench)
	// want are parts of what there is in the end.
	want []string
}

func again(t *testing.T, b *bench) { t.Helper(); b.request(t, v1alpha1.ReconcileOperation) }

// change changes the Installation and asks for a job.
func change(by func(*testing.T, *v1alpha1.Installation)) func(*testing.T, *bench) {
	return func(t *testing.T, b *bench) {
		t.Helper()
		inst := b.installation(t)
		by(t, inst)
		inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
		if err := b.api.Update(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
	}
}

func goes(t *testing.T, b *bench) {
	t.Helper()
	if err := b.api.Delete(t.Context(), b.installation(t)); err != nil {
		t.Fatal(err)
	}
}

// followed is an Installation with exports, and an importer without exports.
func followed(t *testing.T) []client.Object {
	t.Helper()
	follower := testbuilders.InstallationOf(t, "imports: {data: [{name: url, dataRef: shop-url}]}")
	follower.Name, follower.UID, follower.Status = "follower", "uid-follower", v1alpha1.InstallationStatus{}
	follower.Spec.Context = "default"
	follower.Spec.Blueprint.Inline = &v1alpha1.InlineBlueprint{}
	testbuilders.Describe(t, follower, "imports: [{name: url, schema: {type: string}}]\n")
	return append(publishing(t), follower)
}

var scenes = []scene{
	{"a job with exports, and a second one", publishing, false, []func(*testing.T, *bench){again},
		[]string{"Installation shop: Succeeded", "history reconcile/Succeeded", `DataObject shop-url: "https://shop"`}},
	{"an export gets another name", publishing, true, []func(*testing.T, *bench){change(func(_ *testing.T, inst *v1alpha1.Installation) {
		inst.Spec.Exports.Data[0].DataRef = "shop-address"
	})}, []string{"Installation shop: Succeeded", `DataObject shop-address: "https://shop"`}},
	{"an import and the items are removed", publishing, true, []func(*testing.T, *bench){change(func(t *testing.T, inst *v1alpha1.Installation) {
		t.Helper()
		inst.Spec.Imports, inst.Spec.Exports = v1alpha1.InstallationImports{}, v1alpha1.InstallationExports{}
		testbuilders.Describe(t, inst, "deployExecutions: []\n")
	})}, []string{"Installation shop: Succeeded", "Execution shop with 0 items"}},
	{"a subinstallation of a tree is removed", nested, false, []func(*testing.T, *bench){change(func(t *testing.T, inst *v1alpha1.Installation) {
		t.Helper()
		testbuilders.Describe(t, inst, subinstallations[:strings.Index(subinstallations, "- name: b")])
	})}, []string{"Installation shop: Succeeded", "history parent/Succeeded"}},
	{"a tree is deleted", nested, true, []func(*testing.T, *bench){goes}, nil},
	{"an Installation with exports is deleted", publishing, true, []func(*testing.T, *bench){goes}, nil},
	{"another Installation imports the exports", followed, false, nil, []string{"Installation follower: Succeeded, annotations [" + v1alpha1.AdmittedAnnotation + "], finalizers [finalizer.landscaper.gardener.cloud], 0 to tell, history reconcile/Succeeded", "Installation shop: Succeeded"}},
}

// run plays a scene with a fault and returns what there is in the end.
func (s scene) run(t *testing.T, f *fakeapi.Fault) string {
	t.Helper()
	b := newBench(t, s.objects(t)...)
	broken := f.Wrap(t, b.api)
	b.Client, b.Reader, b.Planner.Sources.Client = broken, broken, broken
	if f.Restarts {
		f.Then = b.restart
	}
	b.settle(t)
	f.Beginning = len(f.Calls)
	for _, step := range s.steps {
		step(t, b)
		b.settle(t)
	}
	return b.digest(t)
}

// readsBetween leaves most reads out: there are many, and all are alike.
const readsBetween = 13

// TestEveryCallFails: after a failure of any write, or of some read, the next attempts end where
// they would have ended without it: nothing is left over, nothing is done twice, and nothing is
// lost.
func TestEveryCallFails(t *testing.T) {
	// Scenes are short-lived garbage, and there is little else.
	defer debug.SetGCPercent(debug.SetGCPercent(800))
	resource := v1alpha1.Resource("things")
	ways := []fakeapi.Fault{
		{Err: errors.New("busy")},
		{Lost: true, Err: errors.New("timeout")},
		{Lost: true, Restarts: true, Err: errors.New("timeout")},
		{Err: apierrors.NewConflict(resource, "x", errors.New("newer"))},
		{Reading: true, Err: errors.New("busy")},
	}
	for _, scene := range scenes {
		t.Run(scene.reason, func(t *testing.T) {
			for _, way := range ways {
				smooth := way
				smooth.At = -1
				want := scene.run(t, &smooth)
				for _, part := range scene.want {
					if !strings.Contains(want, part) {
						t.Fatalf("without a fault there is\n%s\nand not %s", want, part)
					}
				}
				for at, call := range smooth.Calls {
					if scene.known && at < smooth.Beginning || way.Reading && at%readsBetween != 0 {
						continue
					}
					if apierrors.IsConflict(way.Err) && strings.HasPrefix(call, "create ") {
						continue // nothing that is new is newer than what was read
					}
					broken := way
					broken.At = at
					if got := scene.run(t, &broken); got != want || !broken.Fired {
						t.Errorf("call %d, %s, ends with %v (lost: %t, restarts: %t, reached: %t): there is\n%s\nwant\n%s", at, call, way.Err, way.Lost, way.Restarts, broken.Fired, got, want)
					}
				}
			}
		})
	}
}
