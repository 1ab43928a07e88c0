package installation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/content/template"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/controller/installation/index"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/landscape/repocontext"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/queue"
	"go.landscaper.dev/internal/runtime/reporter"
)

// bench is a reconciler with an API server in memory that notes what is written.
type bench struct {
	*Reconciler
	api      client.Client
	recorder *events.FakeRecorder
	writes   []string
	mutex    sync.Mutex
	// before is called before a write.
	before func(request string)
	// refuse is the error of the API server for a write, by the verb and the kind.
	refuse map[string]error
}

var shop = types.NamespacedName{Namespace: "team-a", Name: "shop"}

func newBench(t *testing.T, objects ...client.Object) *bench {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{fakeapi.AddCore, v1alpha1.AddToScheme, deliveryv1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	b := &bench{recorder: events.NewFakeRecorder(100), refuse: map[string]error{}}
	write := func(verb string, object client.Object) error {
		request := verb + " " + strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1alpha1.")
		if b.before != nil {
			b.before(request)
		}
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.writes = append(b.writes, request)
		return b.refuse[request]
	}
	b.api = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.Installation{}, &v1alpha1.Execution{}).
		WithIndex(&v1alpha1.DataObject{}, index.CopiesByScope, index.ScopeOf).WithIndex(&v1alpha1.Target{}, index.CopiesByScope, index.ScopeOf).
		WithIndex(&v1alpha1.Installation{}, index.ByParent, index.ParentOf).WithIndex(&v1alpha1.Installation{}, index.Waiting, index.WaitsAs).
		WithIndex(&v1alpha1.Installation{}, index.ByApproval, index.ApprovedFor).
		WithIndex(&v1alpha1.DataObject{}, index.ExportsBySource, index.SourceOf).WithIndex(&v1alpha1.Target{}, index.ExportsBySource, index.SourceOf).
		WithInterceptorFuncs(interceptor.Funcs{
			List: fakeapi.ListReversed,
			Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
				object.SetUID(types.UID("uid-of-" + object.GetName()))
				return errors.Join(write("create", object), c.Create(ctx, object, options...))
			},
			Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
				return errors.Join(write("update", object), c.Update(ctx, object, options...))
			},
			Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
				return errors.Join(write("patch", object), c.Patch(ctx, object, patch, options...))
			},
			Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
				return errors.Join(write("delete", object), c.Delete(ctx, object, options...))
			},
			SubResourceUpdate: func(ctx context.Context, c client.Client, subresource string, object client.Object, options ...client.SubResourceUpdateOption) error {
				if err := write("status", object); err != nil {
					return err
				}
				return c.SubResource(subresource).Update(ctx, object, options...)
			},
		}).Build()
	ids := 0
	b.Reconciler = &Reconciler{
		Client: b.api, Reader: b.api, Recorders: reporter.Recorders{Events: b.recorder}, Order: &queue.Order{}, Now: func() time.Time { return testbuilders.Noon },
		NewJobID: func() string { ids++; return "job-" + strconv.Itoa(ids) }, Parallelizer: inOrder,
		Planner: Planner{
			Sources: &repocontext.Reader{Client: b.api}, Blueprints: blueprint.NewCache(1 << 20),
			Functions: func(string, []*v1alpha1.Target) map[string]template.Function { return nil },
		},
	}
	return b
}

// reconcile reconciles the Installation once and returns what was written.
func (b *bench) reconcile(t *testing.T) string {
	t.Helper()
	b.writes = nil
	if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop}); err != nil {
		t.Fatal(err)
	}
	return strings.Join(b.writes, ", ")
}

// reported returns the events since the last call.
func (b *bench) reported() []string {
	var list []string
	for {
		select {
		case event := <-b.recorder.Events:
			list = append(list, event)
		default:
			return list
		}
	}
}

func (b *bench) installation(t *testing.T) *v1alpha1.Installation {
	t.Helper()
	inst := &v1alpha1.Installation{}
	if err := b.api.Get(t.Context(), shop, inst); err != nil {
		t.Fatal(err)
	}
	return inst
}

func (b *bench) execution(t *testing.T) *v1alpha1.Execution {
	t.Helper()
	exec := &v1alpha1.Execution{}
	if err := b.api.Get(t.Context(), shop, exec); err != nil {
		t.Fatal(err)
	}
	return exec
}

// finish ends the job of the Execution.
func (b *bench) finish(t *testing.T, phase v1alpha1.ExecutionPhase, lastError *v1alpha1.Error) {
	t.Helper()
	exec := b.execution(t)
	exec.Status.JobID = b.installation(t).Status.JobID
	exec.Status.JobIDFinished, exec.Status.ExecutionPhase, exec.Status.LastError = exec.Status.JobID, phase, lastError
	if err := b.api.Status().Update(t.Context(), exec); err != nil {
		t.Fatal(err)
	}
}

// request asks for an operation.
func (b *bench) request(t *testing.T, operation v1alpha1.Operation) {
	t.Helper()
	inst := b.installation(t)
	inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: string(operation)}
	if err := b.api.Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
}

// installed is an Installation with a blueprint that makes deploy items of some names
// and imports a Target, and all that it needs.
func installed(t *testing.T, items ...string) []client.Object {
	t.Helper()
	template := "deployItems: []"
	if len(items) > 0 {
		template = "deployItems:"
	}
	for _, item := range items {
		template += "\n- {name: " + item + ", type: example.org/x, config: {apiVersion: example.org/v1, kind: C}, target: {import: cluster}}"
	}
	description := "apiVersion: landscaper.gardener.cloud/v1alpha1\nkind: Blueprint\nimports: [{name: cluster, type: target, targetType: example.org/cluster}]\ndeployExecutions:\n- name: default\n  type: GoTemplate\n  template: |\n    " + strings.ReplaceAll(template, "\n", "\n    ")
	spec := map[string]any{
		"context":   "default",
		"imports":   map[string]any{"targets": []any{map[string]any{"name": "cluster", "target": "cluster"}}},
		"blueprint": map[string]any{"inline": map[string]any{"filesystem": map[string]any{"blueprint.yaml": description}}},
	}
	raw, err := yaml.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	inst := testbuilders.InstallationOf(t, string(raw))
	inst.Status = v1alpha1.InstallationStatus{}
	inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
	target := &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "cluster"}, Spec: v1alpha1.TargetSpec{Type: "example.org/cluster"}}
	return []client.Object{inst, target, &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "default"}}}
}

// inOrder makes requests that do not need each other one after the other, so that a test
// can name them.
func inOrder(count int, call func(int)) {
	for i := range count {
		call(i)
	}
}

// TestWrittenTogether: the copies of imports and the Execution do not wait for each other, and a
// failure is reported as if they did.
func TestWrittenTogether(t *testing.T) {
	tests := []struct {
		reason  string
		refuse  []string
		message string
	}{
		{"the copy and the Execution are written", nil, ""},
		{"the copy is not written", []string{"create Target"}, "store import cluster"},
		{"the Execution is not written", []string{"create Execution"}, "write Execution shop"},
		{"neither is written: the first error is reported", []string{"create Target", "create Execution"}, "store import cluster"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, installed(t, "web")...)
			b.Parallelizer = nil
			var meeting sync.WaitGroup
			meeting.Add(2)
			b.before = func(request string) {
				if request == "create Target" || request == "create Execution" {
					meeting.Done()
					meeting.Wait()
				}
			}
			for _, request := range test.refuse {
				b.refuse[request] = apierrors.NewInvalid(schema.GroupKind{Kind: "Thing"}, "thing", nil)
			}
			_, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: shop})
			if test.message != "" && (err == nil || !strings.Contains(err.Error(), test.message)) {
				t.Errorf("the attempt ends with %v, want %q", err, test.message)
			}
			status := b.installation(t).Status
			if began := status.InstallationPhase == "Progressing"; began != (test.message == "") {
				t.Errorf("the children begin when all is written: %s", status.InstallationPhase)
			}
		})
	}
}

// TestJob: what a job writes, from its request to its end, a second time, and its
// deletion.
func TestJob(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	if got := b.reconcile(t); got != "patch Installation, create Target, create Execution, status Installation" {
		t.Errorf("the job begins with: %s", got)
	}
	if s := b.installation(t).Status; s.InstallationPhase != "Progressing" || s.JobID != "job-1" || s.ExecutionReference == nil || s.ImportsHash == "" || s.TransitionTimes.WaitTime == nil {
		t.Errorf("%+v", s)
	}
	if got := b.reconcile(t); got != "" {
		t.Errorf("while the Execution works: %s", got)
	}
	b.finish(t, "Succeeded", nil)
	if got := b.reconcile(t); got != "status Installation" {
		t.Errorf("the job ends with: %s", got)
	}
	if reported := b.reported(); !slices.Equal(reported, []string{"Normal Succeeded job job-1 has succeeded"}) {
		t.Errorf("reported %q", reported)
	}
	b.request(t, v1alpha1.ReconcileOperation)
	// The copy shows the job that wrote it.
	if got := b.reconcile(t); got != "status Installation, patch Installation, update Target, status Installation" {
		t.Errorf("the second job begins with: %s", got)
	}
	b.finish(t, "Succeeded", nil)
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" || s.JobIDFinished != "job-2" {
		t.Errorf("%+v", s)
	}
	for i, entry := range b.installation(t).Status.History {
		if want := []string{"job-2", "job-1"}[i]; entry.JobID != want || entry.Trigger != "reconcile" || entry.Phase != "Succeeded" || entry.Start == nil {
			t.Errorf("the history has %+v, want %s", entry, want)
		}
	}
	if err := b.api.Delete(t.Context(), b.installation(t)); err != nil {
		t.Fatal(err)
	}
	if got := b.reconcile(t); got != "delete Execution, status Installation" {
		t.Errorf("the deletion begins with: %s", got)
	}
	if history := b.installation(t).Status.History; len(history) != 3 || history[0].Trigger != "deletion" || history[0].Phase != "" {
		t.Errorf("the history has %+v", history)
	}
	exec := b.execution(t)
	exec.Finalizers = nil
	if err := b.api.Update(t.Context(), exec); err != nil {
		t.Fatal(err)
	}
	if got := b.reconcile(t); got != "patch Installation" {
		t.Errorf("the deletion ends with: %s", got)
	}
	if err := b.api.Get(t.Context(), shop, &v1alpha1.Installation{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestJobOutcomes: how a job ends that does not succeed at once.
func TestJobOutcomes(t *testing.T) {
	conflict := apierrors.NewConflict(v1alpha1.Resource("things"), "x", errors.New("newer"))
	for _, test := range []struct {
		reason  string
		prepare func(*testing.T, *bench)
		phase   v1alpha1.InstallationPhase
		ended   bool
		message string
	}{
		{"the Execution has failed", func(t *testing.T, b *bench) {
			b.reconcile(t)
			b.finish(t, "Failed", &v1alpha1.Error{Message: "no such image"})
		}, "Failed", true, "no such image"},
		{"the specification has changed meanwhile", func(t *testing.T, b *bench) {
			b.reconcile(t)
			inst := b.installation(t)
			inst.Generation++
			if err := b.api.Update(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			b.finish(t, "Succeeded", nil)
		}, "Failed", true, "installation spec has been changed"},
		{"the import does not exist", func(t *testing.T, b *bench) {
			if err := b.api.Delete(t.Context(), &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "cluster"}}); err != nil {
				t.Fatal(err)
			}
		}, "Failed", true, `there is no Target "cluster"`},
		{"the default Context does not exist yet", func(t *testing.T, b *bench) {
			if err := b.api.Delete(t.Context(), &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "default"}}); err != nil {
				t.Fatal(err)
			}
		}, "Init", false, "waiting for Context default"},
		{"another Installation is about to export the import", func(t *testing.T, b *bench) {
			if err := b.api.Delete(t.Context(), &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "cluster"}}); err != nil {
				t.Fatal(err)
			}
			exporter := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "landscape", Annotations: map[string]string{v1alpha1.OperationAnnotation: "reconcile"}}}
			exporter.Spec.Exports.Targets = []v1alpha1.TargetExport{{Name: "x", Target: "cluster"}}
			if err := b.api.Create(t.Context(), exporter); err != nil {
				t.Fatal(err)
			}
		}, "Init", false, `waiting for Installation landscape, which exports Target "cluster" for import cluster`},
		{"the name is taken by an Execution of another owner", func(t *testing.T, b *bench) {
			if err := b.api.Create(t.Context(), &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name}}); err != nil {
				t.Fatal(err)
			}
		}, "Failed", true, "there is an Execution shop that does not belong to this Installation"},
		{"the Execution of an earlier Installation is not deleted yet", func(t *testing.T, b *bench) {
			if err := b.api.Create(t.Context(), &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: shop.Name, OwnerReferences: []metav1.OwnerReference{testbuilders.Owner("Installation", "shop", "1")}}}); err != nil {
				t.Fatal(err)
			}
		}, "Init", false, "waiting until Execution shop of an earlier Installation is deleted"},
		{"the copy of an import cannot be written", func(_ *testing.T, b *bench) {
			b.refuse["create Target"] = job.AsTerminal(errors.New("quota"))
		}, "Failed", true, "store import cluster: quota"},
		{"another client was faster: no error is reported", func(_ *testing.T, b *bench) { b.refuse["create Execution"] = conflict }, "", true, ""},
		{"an interruption before there are children", func(t *testing.T, b *bench) {
			if err := b.api.Delete(t.Context(), &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: shop.Namespace, Name: "default"}}); err != nil {
				t.Fatal(err)
			}
			b.reconcile(t)
			b.request(t, v1alpha1.InterruptOperation)
		}, "Failed", true, "operation was interrupted"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, installed(t, "web")...)
			test.prepare(t, b)
			b.reconcile(t)
			s := b.installation(t).Status
			if s.InstallationPhase != test.phase || (s.JobID == s.JobIDFinished) != test.ended {
				t.Fatalf("%+v, %+v", s, s.LastError)
			}
			if message := ""; s.LastError != nil || test.message != "" {
				if s.LastError != nil {
					message = s.LastError.Message
				}
				if !strings.Contains(message, test.message) {
					t.Errorf("%q, want %q", message, test.message)
				}
			}
		})
	}
}

// TestInterruptPassedDown: the children get an interruption, and the request is removed.
func TestInterruptPassedDown(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	b.reconcile(t)
	b.request(t, v1alpha1.InterruptOperation)
	if got := b.reconcile(t); got != "patch Execution, patch Installation" {
		t.Errorf("got %s", got)
	}
	if operation := b.execution(t).Annotations[v1alpha1.OperationAnnotation]; operation != "interrupt" {
		t.Errorf("the Execution is asked to %s", operation)
	}
}

// TestDeleteWithoutUninstall: the Execution gets the annotation before it is deleted.
func TestDeleteWithoutUninstall(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	b.reconcile(t)
	b.finish(t, "Succeeded", nil)
	b.reconcile(t)
	inst := b.installation(t)
	inst.Annotations = map[string]string{v1alpha1.DeleteWithoutUninstallAnnotation: "true"}
	if err := b.api.Update(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	if err := b.api.Delete(t.Context(), inst); err != nil {
		t.Fatal(err)
	}
	if got := b.reconcile(t); got != "patch Execution, delete Execution, status Installation" {
		t.Errorf("got %s", got)
	}
}

// TestLaggingDeletion: an Execution that the cache does not show is found.
func TestLaggingDeletion(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	b.reconcile(t)
	b.finish(t, "Succeeded", nil)
	b.reconcile(t)
	if err := b.api.Delete(t.Context(), b.installation(t)); err != nil {
		t.Fatal(err)
	}
	b.Client = blind{b.api}
	if got := b.reconcile(t); got != "status Installation, delete Execution" {
		t.Errorf("got %s", got)
	}
}

// blind is a cache that shows no Execution.
type blind struct{ client.Client }

// Get implements client.Reader.
func (b blind) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, ok := object.(*v1alpha1.Execution); ok {
		return apierrors.NewNotFound(v1alpha1.Resource("executions"), key.Name)
	}
	return b.Client.Get(ctx, key, object, options...)
}

// TestWithoutItems: no item, no Execution, and the job ends at once.
func TestWithoutItems(t *testing.T) {
	b := newBench(t, installed(t)...)
	if got := b.reconcile(t); got != "patch Installation, create Target, status Installation, status Installation" {
		t.Errorf("got %s", got)
	}
	if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" || s.ExecutionReference != nil {
		t.Errorf("%+v", s)
	}
}
