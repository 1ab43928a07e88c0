package fleet

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	fleetv1alpha1 "go.landscaper.dev/api/fleet/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/cluster/egress"
	"go.landscaper.dev/internal/model/fleet"
	"go.landscaper.dev/internal/runtime/expectations/leftover"
)

// bench is a Reconciler on an API server in memory, whose requests it counts.
type bench struct {
	*Reconciler
	t *testing.T
	// requests counts writes by verb and kind, and live reads.
	requests map[string]int
	guard    sync.Mutex
	now      time.Time
	fails    func(verb string, object client.Object) error
}

func newBench(t *testing.T, objects ...client.Object) *bench {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, fleetv1alpha1.AddToScheme, appsv1.AddToScheme} {
		utilruntime.Must(add(scheme))
	}
	b := &bench{t: t, requests: map[string]int{}, now: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC), fails: func(string, client.Object) error { return nil }}
	store := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&fleetv1alpha1.Fleet{}, &v1alpha1.Installation{}).Build()
	counted := interceptor.NewClient(store, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := b.count("create", object); err != nil {
				return err
			}
			object.SetUID(types.UID("uid of " + object.GetName()))
			object.SetGeneration(1)
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			if err := b.count("update", object); err != nil {
				return err
			}
			object.SetGeneration(object.GetGeneration() + 1)
			return c.Update(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := b.count("patch", object); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if err := b.count("delete", object); err != nil {
				return err
			}
			return c.Delete(ctx, object, options...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, sub string, object client.Object, options ...client.SubResourceUpdateOption) error {
			if err := b.count("status", object); err != nil {
				return err
			}
			return c.SubResource(sub).Update(ctx, object, options...)
		},
	})
	live := interceptor.NewClient(store, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := b.count("get", object); err != nil {
				return err
			}
			return c.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			b.requests[fmt.Sprintf("list %T", list)]++
			return c.List(ctx, list, options...)
		},
	})
	b.Reconciler = &Reconciler{Client: counted, Cache: store, Reader: live, Now: func() time.Time { return b.now }, Gates: &Asker{Client: store}}
	return b
}

func (b *bench) count(verb string, object client.Object) error {
	b.guard.Lock()
	defer b.guard.Unlock()
	b.requests[fmt.Sprintf("%s %T", verb, object)]++
	return b.fails(verb, object)
}

func (b *bench) installations() []v1alpha1.Installation {
	list := &v1alpha1.InstallationList{}
	if err := b.Cache.List(b.t.Context(), list); err != nil {
		b.t.Fatal(err)
	}
	return list.Items
}

func (b *bench) fleet() *fleetv1alpha1.Fleet {
	found := &fleetv1alpha1.Fleet{}
	if err := b.Cache.Get(b.t.Context(), client.ObjectKey{Namespace: "blue", Name: "shop"}, found); err != nil {
		b.t.Fatal(err)
	}
	return found
}

func (b *bench) reconcile() ctrl.Result {
	b.t.Helper()
	result, err := b.Reconcile(b.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "blue", Name: "shop"}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.now = b.now.Add(2 * time.Second)
	return result
}

// jobs ends all jobs, well or badly.
func (b *bench) jobs(phase v1alpha1.InstallationPhase) int {
	ended := 0
	for _, inst := range b.installations() {
		if inst.Annotations[v1alpha1.OperationAnnotation] == "" {
			continue
		}
		delete(inst.Annotations, v1alpha1.OperationAnnotation)
		store := b.Cache.(client.Client)
		if err := store.Update(b.t.Context(), &inst); err != nil {
			b.t.Fatal(err)
		}
		inst.Status.JobID += "i"
		inst.Status.JobIDFinished, inst.Status.ObservedGeneration, inst.Status.InstallationPhase = inst.Status.JobID, inst.Generation, phase
		if err := store.Status().Update(b.t.Context(), &inst); err != nil {
			b.t.Fatal(err)
		}
		ended++
	}
	return ended
}

// settle reconciles and ends jobs until nothing has one.
func (b *bench) settle() {
	b.t.Helper()
	for range 2000 {
		b.reconcile()
		if b.jobs(v1alpha1.InstallationPhases.Succeeded) == 0 {
			b.reconcile()
			return
		}
	}
	b.t.Fatal("it does not settle")
}

func fleetOf(version string) *fleetv1alpha1.Fleet {
	return &fleetv1alpha1.Fleet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "shop", UID: "fleet-uid", Generation: 1},
		Spec: fleetv1alpha1.FleetSpec{
			Targets: fleetv1alpha1.FleetTargets{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"shop": "yes"}}, Limit: 10000},
			Template: fleetv1alpha1.FleetTemplate{TargetImport: "cluster", Spec: v1alpha1.InstallationSpec{
				ComponentDescriptor: &v1alpha1.ComponentDescriptorDefinition{Reference: &v1alpha1.ComponentDescriptorReference{ComponentName: "example.com/shop"}},
			}},
			Version: &fleetv1alpha1.FleetVersion{Version: version},
			Rollout: &fleetv1alpha1.Rollout{Waves: []fleetv1alpha1.Wave{{Name: "few", Percent: 5}, {Name: "more", MaxParallel: 100}}},
		},
	}
}

func targetsFor(count int) []client.Object {
	var all []client.Object
	for i := range count {
		all = append(all, &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: fmt.Sprintf("t%04d", i), Labels: map[string]string{"shop": "yes"}}})
	}
	return all
}

func (b *bench) version(version string) {
	changed := b.fleet()
	changed.Spec.Version = &fleetv1alpha1.FleetVersion{Version: version}
	changed.Generation++
	if err := b.Cache.(client.Client).Update(b.t.Context(), changed); err != nil {
		b.t.Fatal(err)
	}
	clear(b.requests)
}

// TestRequests: each Installation is written once in a roll-out, a status grows by waves alone, and a
// Fleet without a change makes no request at all.
func TestRequests(t *testing.T) {
	for _, count := range []int{10, 100} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			b := newBench(t, append(targetsFor(count), fleetOf("1.0.0"))...)
			b.settle()
			if created := b.requests["create *v1alpha1.Installation"]; created != count || b.requests["update *v1alpha1.Installation"] > 0 {
				t.Errorf("requests: %v", b.requests)
			}
			b.version("2.0.0")
			began := time.Now()
			b.settle()
			t.Logf("%d Targets: %v, %s", count, b.requests, time.Since(began))
			if b.requests["update *v1alpha1.Installation"] != count || b.requests["list *v1.ControllerRevisionList"] != 1 || b.requests["create *v1.ControllerRevision"] != 1 {
				t.Errorf("requests: %v", b.requests)
			}
			status := b.fleet().Status
			if len(status.Waves) != 2 || status.Counts.Succeeded != int32(count) || status.LastRevision != status.Revision {
				t.Errorf("status: %+v", status)
			}
			clear(b.requests)
			if result := b.reconcile(); len(b.requests) > 0 || result.RequeueAfter != 0 {
				t.Errorf("without a change: %v, %v", b.requests, result)
			}
		})
	}
}

// TestRestart: a process that ends after any request goes on without writing anything twice.
func TestRestart(t *testing.T) {
	for at := 1; ; at++ {
		b := newBench(t, append(targetsFor(4), fleetOf("1.0.0"))...)
		b.settle()
		b.version("2.0.0")
		requests, ended := 0, false
		b.fails = func(string, client.Object) error {
			if requests++; requests > at && !ended {
				return context.Canceled
			}
			return nil
		}
		for range 30 {
			if _, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "blue", Name: "shop"}}); err != nil {
				ended = true
				b.known.Forget("fleet-uid")
			}
			b.now = b.now.Add(2 * time.Second)
			b.jobs(v1alpha1.InstallationPhases.Succeeded)
		}
		for _, inst := range b.installations() {
			if inst.Spec.ComponentDescriptor.Reference.Version != "2.0.0" || inst.Generation != 2 {
				t.Errorf("ended after %d: %s has version %s, generation %d", at, inst.Name, inst.Spec.ComponentDescriptor.Reference.Version, inst.Generation)
			}
		}
		if !ended {
			t.Logf("ended after each of %d requests", at)
			return
		}
	}
}

// TestBehind: a cache that shows nothing of what was written leads to no second write.
func TestBehind(t *testing.T) {
	b := newBench(t, append(targetsFor(3), fleetOf("1.0.0"))...)
	b.settle()
	before := b.installations()
	b.version("2.0.0")
	b.Cache = stale{Reader: b.Cache, installations: before}
	for range 3 {
		b.reconcile()
	}
	if b.requests["update *v1alpha1.Installation"] != 1 {
		t.Errorf("requests: %v", b.requests)
	}
}

// stale shows Installations as they were.
type stale struct {
	client.Reader
	installations []v1alpha1.Installation
}

func (s stale) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if insts, is := list.(*v1alpha1.InstallationList); is {
		insts.Items = slices.Clone(s.installations)
		return nil
	}
	return s.Reader.List(ctx, list, options...)
}

// TestForgets: nothing is remembered of a Fleet that was deleted.
func TestForgets(t *testing.T) {
	b := newBench(t, append(targetsFor(2), fleetOf("1.0.0"))...)
	b.settle()
	if len(leftover.Of(&b.known, "fleet-uid")) == 0 {
		t.Error("nothing is remembered of a Fleet that exists")
	}
	if err := b.Cache.(client.Client).Delete(t.Context(), b.fleet()); err != nil {
		t.Fatal(err)
	}
	b.reconcile()
	if found := leftover.Of(&b.known, "fleet-uid", "shop", "shop-t0000"); len(found) > 0 {
		t.Errorf("left are %v", found)
	}
	for _, inst := range b.installations() {
		if len(inst.Labels) > 0 {
			t.Errorf("%s belongs to no user, and has %v", inst.Name, inst.Labels)
		}
	}
}

// TestRevisions: ten are kept, and those that others have changed do not count.
func TestRevisions(t *testing.T) {
	b := newBench(t, append(targetsFor(1), fleetOf("1.0.0"))...)
	b.settle()
	for i := range 15 {
		b.version(fmt.Sprintf("2.%d.0", i))
		b.settle()
	}
	list := &appsv1.ControllerRevisionList{}
	if err := b.Cache.List(t.Context(), list); err != nil || len(list.Items) > maxRevisions+1 {
		t.Errorf("%d revisions, %v", len(list.Items), err)
	}
}

// TestManaged: an Installation that a tool writes again is not adopted.
func TestManaged(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*v1alpha1.Installation)
		want   string
	}{
		{"no tool manages it", func(*v1alpha1.Installation) {}, ""},
		{"a label names a tool", func(i *v1alpha1.Installation) { i.Labels = map[string]string{managedByLabel: "Helm"} }, "Installation x is managed by Helm"},
		{"a tool applies it", func(i *v1alpha1.Installation) {
			i.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "flux", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}}
		}, "Installation x is applied by flux"},
		{"a user has written it", func(i *v1alpha1.Installation) {
			i.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}}
		}, ""},
	} {
		inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
		if test.change(inst); managerOf(inst) != test.want {
			t.Errorf("%s: %s", test.reason, managerOf(inst))
		}
	}
}

// TestGate: what opens a gate, and what does not.
func TestGate(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bad":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/away":
			http.Redirect(w, r, "/good", http.StatusFound)
		}
	}))
	defer server.Close()
	inst := &v1alpha1.Installation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "shop-a"},
		Spec:       v1alpha1.InstallationSpec{Exports: v1alpha1.InstallationExports{Data: []v1alpha1.DataExport{{Name: "errors", DataRef: "errors-a"}, {Name: "none", DataRef: "none"}}}},
		Status:     v1alpha1.InstallationStatus{InstallationPhase: "Succeeded"},
	}
	export := &v1alpha1.DataObject{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "errors-a"}, Data: v1alpha1.NewAnyJSON([]byte(`{"rate":0.5}`))}
	b := newBench(t, export)
	open, shut := egress.Policy{AllowLoopback: true}, egress.Policy{}
	for _, test := range []struct {
		reason string
		gate   fleetv1alpha1.Gate
		policy egress.Policy
		want   string
	}{
		{"an expression about the status", fleetv1alpha1.Gate{Expression: "installation.status.phase == 'Succeeded'"}, shut, ""},
		{"an expression about an export", fleetv1alpha1.Gate{Expression: "exports.errors.rate < 1"}, shut, ""},
		{"an expression that is false", fleetv1alpha1.Gate{Expression: "exports.errors.rate > 1"}, shut, "at Installation shop-a: the expression is false"},
		{"an export that does not exist", fleetv1alpha1.Gate{Expression: "exports.none > 1"}, shut, "at Installation shop-a: there is no field none yet"},
		{"a text that is no expression", fleetv1alpha1.Gate{Expression: "a b"}, shut, "the expression is not valid"},
		{"a server that agrees", fleetv1alpha1.Gate{URL: server.URL + "/good"}, open, ""},
		{"a server that does not", fleetv1alpha1.Gate{URL: server.URL + "/bad"}, open, "answers with status 503"},
		{"a server that leads elsewhere", fleetv1alpha1.Gate{URL: server.URL + "/away"}, open, "answers with status 302"},
		{"an address that the policy refuses", fleetv1alpha1.Gate{URL: server.URL + "/good"}, shut, "the egress policy refuses connections"},
		{"a file", fleetv1alpha1.Gate{URL: "file:///etc/passwd"}, open, "the URL is not an address of http or https"},
	} {
		asker := &Asker{Client: b.Cache, Transport: test.policy.Transport(egress.Timeouts{})}
		verdict := asker.Open(t.Context(), &test.gate, []*fleet.Member{{Target: "a", Installation: inst}})
		if verdict.Open != (test.want == "") || !strings.Contains(verdict.Message, test.want) {
			t.Errorf("%s: %+v", test.reason, verdict)
		}
	}
}
