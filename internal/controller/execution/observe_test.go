package execution

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/model/siblings/itemorder"
	"go.landscaper.dev/internal/runtime/job"
)

// observed returns the snapshot of the Execution.
func (b *bench) observed(t *testing.T) (*snapshot, bool, error) {
	t.Helper()
	s := &snapshot{}
	ready, err := b.observe(t.Context(), key, s)
	return s, ready, err
}

// TestObserveParent: which Installation is the parent, and which Execution is an orphan.
func TestObserveParent(t *testing.T) {
	reference := func(group, name, uid string) []metav1.OwnerReference {
		return []metav1.OwnerReference{{APIVersion: group + "/v1alpha1", Kind: "Installation", Name: name, UID: types.UID(uid)}}
	}
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "parent", UID: "uid-1"}}
	for _, test := range []struct {
		reason   string
		owners   []metav1.OwnerReference
		parent   bool
		orphaned bool
	}{
		{"an Execution of a tool has no parent", nil, false, false},
		{"the owner is the parent", reference(v1alpha1.GroupName, "parent", "uid-1"), true, false},
		{"an Installation of another group is not a parent", reference("example.org", "parent", "uid-1"), false, false},
		{"the parent no longer exists", reference(v1alpha1.GroupName, "gone", "uid-2"), false, true},
		{"another Installation has the name of the parent now", reference(v1alpha1.GroupName, "parent", "uid-0"), false, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			exec := withItems()
			exec.OwnerReferences = test.owners
			b := newBench(t, exec, inst)
			s, ready, err := b.observed(t)
			if err != nil || !ready || (s.parent != nil) != test.parent || s.orphaned != test.orphaned {
				t.Errorf("%t, %v: parent %v, orphaned %t", ready, err, s.parent, s.orphaned)
			}
		})
	}
}

// TestObserveItems: which DeployItems count.
func TestObserveItems(t *testing.T) {
	item := func(name string, owners ...metav1.OwnerReference) *v1alpha1.DeployItem {
		return &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{
			Namespace: key.Namespace, Name: name, UID: types.UID("uid-" + name), OwnerReferences: owners,
			Labels: map[string]string{v1alpha1.ExecutionManagedByLabel: key.Name, v1alpha1.ExecutionManagedNameLabel: name},
		}}
	}
	owned := func(kind, uid string) metav1.OwnerReference {
		controls := true
		return metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: kind, Name: key.Name, UID: types.UID(uid), Controller: &controls}
	}
	b := newBench(t, withItems(), item("ours", owned("Execution", "uid")), item("restored"), item("of-an-earlier-one", owned("Execution", "old")), item("of-another-kind", owned("Installation", "uid")))
	s, ready, err := b.observed(t)
	if got := itemNames(s.items); err != nil || !ready || got != "ours,restored" {
		t.Errorf("%s, %t, %v", got, ready, err)
	}
}

// TestLaggingCache: the Execution waits for objects that were just created; about all others the
// API server decides.
func TestLaggingCache(t *testing.T) {
	b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}))
	b.handOver(t, "a")
	b.reconcile(t)
	b.Client = blind{b.api}
	if result := b.reconcile(t); result.RequeueAfter != lagLimit {
		t.Errorf("the cache gets no time: %+v", result)
	}
	b.now = b.now.Add(2 * lagLimit)
	if s, ready, err := b.observed(t); err != nil || !ready || len(s.items) != 1 {
		t.Errorf("the API server has the item: %+v, %t, %v", s.items, ready, err)
	}
	if err := b.api.Delete(t.Context(), &b.items(t)[0]); err != nil {
		t.Fatal(err)
	}
	for _, item := range b.items(t) {
		item.Finalizers = nil
		if err := b.api.Update(t.Context(), &item); err != nil {
			t.Fatal(err)
		}
	}
	b.reconcile(t)
	if s := b.execution(t).Status; s.ExecutionPhase != "Failed" || !strings.Contains(s.LastError.Message, `the DeployItem is missing`) {
		t.Errorf("%+v, %+v", s, s.LastError)
	}
}

// TestDeletionBeforeTheCacheShows: an Execution that is deleted right after it has created its
// items stays until they are deleted, although no cache has shown them yet. A deployer whose cache
// is faster may have deployed one of them.
func TestDeletionBeforeTheCacheShows(t *testing.T) {
	b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}))
	b.handOver(t, "a")
	b.reconcile(t)
	exec := b.execution(t)
	exec.Status.JobIDFinished, exec.Status.ExecutionPhase = "a", "Failed" // another client has interrupted the job
	if err := errors.Join(b.api.Status().Update(t.Context(), exec), b.api.Delete(t.Context(), exec)); err != nil {
		t.Fatal(err)
	}
	b.handOver(t, "b")
	b.Client = blind{b.api}
	if result := b.reconcile(t); result.RequeueAfter != lagLimit {
		t.Errorf("the cache gets no time: %+v", result)
	}
	b.now = b.now.Add(2 * lagLimit)
	for range 3 {
		b.reconcile(t)
	}
	if items := b.items(t); len(items) != 1 || items[0].DeletionTimestamp == nil {
		t.Fatalf("the item is not deleted: %+v", items)
	}
	if got := b.execution(t); len(got.Finalizers) != 1 || got.Status.ExecutionPhase != "Deleting" {
		t.Fatalf("the Execution does not wait for its item: %v, phase %s", got.Finalizers, got.Status.ExecutionPhase)
	}
	for _, item := range b.items(t) {
		item.Finalizers = nil
		if err := b.api.Update(t.Context(), &item); err != nil {
			t.Fatal(err)
		}
	}
	b.reconcile(t)
	if err := b.api.Get(t.Context(), key, &v1alpha1.Execution{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Execution waits for nothing: %v", err)
	}
	if b.memory.Find("uid") != nil {
		t.Error("what it has created is remembered")
	}
}

// blind is a cache that shows no DeployItem.
type blind struct{ client.Client }

// List implements client.Reader.
func (b blind) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, ok := list.(*v1alpha1.DeployItemList); ok {
		return nil
	}
	return b.Client.List(ctx, list, options...)
}

// TestExports: what items export is collected, and stored once.
func TestExports(t *testing.T) {
	for _, test := range []struct {
		reason  string
		data    map[string][]byte
		want    string
		problem string
	}{
		{"a map", map[string][]byte{"config": []byte("{host: db}")}, `{"one":{"host":"db"}}`, ""},
		{"nothing", map[string][]byte{"config": nil}, `{"one":null}`, ""},
		{"a value that is not a map", map[string][]byte{"config": []byte("[a]")}, "", "does not hold a map"},
		{"a value that is not YAML", map[string][]byte{"config": []byte("{")}, "", "does not hold a map"},
		{"an item without a Secret", nil, "", "read Secret exported"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}))
			if test.data != nil {
				if err := b.api.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "exported"}, Data: test.data}); err != nil {
					t.Fatal(err)
				}
			}
			b.handOver(t, "a")
			b.reconcile(t)
			item := b.items(t)[0]
			item.Status.ExportReference = &v1alpha1.ObjectReference{Name: "exported", Namespace: key.Namespace}
			if err := b.api.Status().Update(t.Context(), &item); err != nil {
				t.Fatal(err)
			}
			b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
			_, err := b.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
			status := b.execution(t).Status
			if test.problem != "" {
				if err == nil || !strings.Contains(status.LastError.Message, test.problem) || status.ExecutionPhase != "Progressing" {
					t.Errorf("%v, %+v", err, status.LastError)
				}
				return
			}
			object := &v1alpha1.DataObject{}
			if err != nil || status.ExportReference == nil || b.api.Get(t.Context(), status.ExportReference.NamespacedName(), object) != nil || string(object.Data.RawMessage) != test.want {
				t.Errorf("%v: %s", err, object.Data.RawMessage)
			}
		})
	}
}

// TestOrphans: items that are no longer wanted are deleted before anything new begins.
func TestOrphans(t *testing.T) {
	b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "old"}))
	b.handOver(t, "a")
	b.reconcile(t)
	b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
	b.reconcile(t)
	exec := b.execution(t)
	exec.Spec = withItems(v1alpha1.DeployItemTemplate{Name: "new"}).Spec
	if err := b.api.Update(t.Context(), exec); err != nil {
		t.Fatal(err)
	}
	b.handOver(t, "b")
	b.reconcile(t)
	b.reconcile(t)
	for _, item := range b.items(t) {
		if hasJob := item.Status.JobID == "b"; hasJob != (itemorder.NameOf(&item) == "old") {
			t.Errorf("item %s has the job: %t", itemorder.NameOf(&item), hasJob)
		} else if hasJob {
			item.Finalizers = nil
			if err := b.api.Update(t.Context(), &item); err != nil {
				t.Fatal(err)
			}
		}
	}
	if cache := b.execution(t).Status.DeployItemCache; len(cache.OrphanedDIs) != 1 || cache.ActiveDIs[0].SpecName != "new" {
		t.Errorf("%+v", cache)
	}
	b.reconcile(t)
	if items := b.items(t); len(items) != 1 || items[0].Status.JobID != "b" {
		t.Errorf("%+v", items)
	}
}

// TestWithoutUninstall: items that stay installed lose their finalizer without a deployer.
func TestWithoutUninstall(t *testing.T) {
	b := newBench(t, withItems(v1alpha1.DeployItemTemplate{Name: "one"}))
	b.handOver(t, "a")
	b.reconcile(t)
	b.finish(t, v1alpha1.DeployItemPhases.Succeeded)
	b.reconcile(t)
	exec := b.execution(t)
	exec.Annotations = map[string]string{v1alpha1.DeleteWithoutUninstallAnnotation: "true"}
	if err := b.api.Update(t.Context(), exec); err != nil {
		t.Fatal(err)
	}
	if err := b.api.Delete(t.Context(), exec); err != nil {
		t.Fatal(err)
	}
	b.handOver(t, "b")
	for range 3 {
		b.reconcile(t)
	}
	if err := b.api.Get(t.Context(), key, &v1alpha1.Execution{}); !apierrors.IsNotFound(err) || len(b.items(t)) != 0 {
		t.Errorf("%d items are left, %v", len(b.items(t)), err)
	}
}

// TestAdopt: which job an Execution gets.
func TestAdopt(t *testing.T) {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid-1", Finalizers: []string{v1alpha1.Finalizer}}}
	inst.Status.JobID, inst.Status.InstallationPhase = "of-the-parent", "Progressing"
	exec := withItems()
	exec.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: key.Name, UID: "uid-1"}}
	b := newBench(t, exec, inst)
	b.reconcile(t)
	if s := b.execution(t).Status; s.JobIDFinished != "of-the-parent" || s.ExecutionPhase != "Succeeded" || s.TransitionTimes.TriggerTime == nil {
		t.Errorf("%+v", s)
	}
}

// TestClassified: a write that the API server refuses because of its content is not repeated.
func TestClassified(t *testing.T) {
	kind := v1alpha1.GroupVersion.WithKind("DeployItem").GroupKind()
	for _, test := range []struct {
		reason string
		err    error
		want   job.Outcome
	}{
		{"an item that is not valid", apierrors.NewInvalid(kind, "x", nil), job.Terminal},
		{"an item that a policy forbids", apierrors.NewForbidden(v1alpha1.Resource("deployitems"), "x", errors.New("policy")), job.Terminal},
		{"an item that is too large", apierrors.NewRequestEntityTooLargeError("x"), job.Terminal},
		{"an API server that is out of order", apierrors.NewInternalError(errors.New("x")), job.Transient},
		{"busy", apierrors.NewTooManyRequests("x", 1), job.Transient},
		{"another client was faster", apierrors.NewConflict(v1alpha1.Resource("deployitems"), "x", errors.New("x")), job.Conflict},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := job.OutcomeOf(classified(test.err)); got != test.want {
				t.Errorf("outcome %d, want %d", got, test.want)
			}
		})
	}
}

// TestOverdue: the next deadline counts, and those that are over.
func TestOverdue(t *testing.T) {
	s := snapshotWith(
		has("late", "a", "", "", triggeredAt(noon.Add(-2*time.Minute))), has("soon", "a", "", "", triggeredAt(noon.Add(-30*time.Second))),
		has("later", "a", "", "", triggeredAt(noon)), has("done", "a", "a", "Succeeded", triggeredAt(noon.Add(-time.Hour))))
	late, next := overdue(s)
	if itemNames(late) != "late" || !next.Equal(noon.Add(30*time.Second)) {
		t.Errorf("%s, %s", itemNames(late), next)
	}
	s.pickup = 0
	if late, next := overdue(s); len(late) != 0 || !next.IsZero() {
		t.Error("without a limit there is no deadline")
	}
}
