package execution

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"go.landscaper.dev/api/v1alpha1"
)

// TestExecutionOf: which events of an Installation enqueue its Execution.
func TestExecutionOf(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(*v1alpha1.Installation)
		wakes  bool
	}{
		{"a job that has not written the Execution yet", func(*v1alpha1.Installation) {}, false},
		{"the job has ended before: an interruption on the Execution must be removed", func(i *v1alpha1.Installation) { i.Status.JobIDFinished = "1" }, true},
		{"the Execution is written", func(i *v1alpha1.Installation) { i.Status.ExecutionReference = &v1alpha1.ObjectReference{} }, true},
		{"a deletion", func(i *v1alpha1.Installation) { i.DeletionTimestamp = &metav1.Time{} }, true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			inst := &v1alpha1.Installation{}
			inst.Status.JobID = "1"
			test.change(inst)
			if wakes := len(executionOf(t.Context(), inst)) == 1; wakes != test.wakes {
				t.Errorf("the Execution is enqueued: %t", wakes)
			}
		})
	}
}

// TestExecutionOfItem: which Execution the events of an item enqueue. Each that counts an item
// among its own waits for it.
func TestExecutionOfItem(t *testing.T) {
	owned := func(group, kind string) *metav1.OwnerReference {
		controls := true
		return &metav1.OwnerReference{APIVersion: group + "/v1alpha1", Kind: kind, Name: "owner", UID: "uid", Controller: &controls}
	}
	for _, test := range []struct {
		reason string
		owner  *metav1.OwnerReference
		label  string
		want   string
	}{
		{"an item as we make it", owned(v1alpha1.GroupName, "Execution"), "owner", "owner"},
		{"the label was removed", owned(v1alpha1.GroupName, "Execution"), "", "owner"},
		{"the label was changed", owned(v1alpha1.GroupName, "Execution"), "other", "owner"},
		{"a restored item without an owner", nil, "x", "x"},
		{"an item of another owner", owned("apps", "Deployment"), "x", ""},
		{"an item of an Execution of another group", owned("example.org", "Execution"), "x", ""},
		{"a test of a deployer", nil, "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			item := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "item"}}
			if test.owner != nil {
				item.OwnerReferences = []metav1.OwnerReference{*test.owner}
			}
			if test.label != "" {
				item.Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: test.label}
			}
			var want []reconcile.Request
			if test.want != "" {
				want = []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: "n", Name: test.want}}}
			}
			if got := executionOfItem(t.Context(), item); !slices.Equal(got, want) {
				t.Errorf("the item enqueues %v, want %v", got, want)
			}
		})
	}
}

// TestAtWork: an Execution works for the root of its tree, from the moment on when its
// Installation has a job for it.
func TestAtWork(t *testing.T) {
	installation := func(name, owner, jobID string) *v1alpha1.Installation {
		inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, UID: types.UID("uid-" + name)}}
		if owner != "" {
			inst.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: owner, UID: types.UID("uid-" + owner)}}
		}
		inst.Status.JobID = jobID
		return inst
	}
	b := newBench(t, installation("root", "", "a"), installation("sub", "root", "a"), installation("idle", "", ""))
	for _, test := range []struct {
		reason, owner, jobID, finished, name string
		works                                bool
	}{
		{"an Execution with the job", "sub", "a", "", "root", true},
		{"an Execution that is about to get the job", "sub", "", "", "root", true},
		{"an Execution with the job of a root", "root", "a", "", "root", true},
		{"an Execution that has ended the job", "sub", "a", "a", "exec", false},
		{"an Execution whose Installation has no job", "idle", "", "", "exec", false},
		{"an Execution with a job of a tool", "", "b", "a", "exec", true},
		{"an Execution whose Installation no longer exists", "ghost", "b", "a", "exec", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			exec := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "exec"}}
			if test.owner != "" {
				exec.OwnerReferences = installation("", test.owner, "").OwnerReferences
			}
			exec.Status.JobID, exec.Status.JobIDFinished = test.jobID, test.finished
			if key, works := b.atWork(exec); key.Name != test.name || works != test.works {
				t.Errorf("%s, %t", key, works)
			}
		})
	}
}

// TestCreatedBefore: an item that the cache does not show yet may have been created
// from an older template.
func TestCreatedBefore(t *testing.T) {
	b := newBench(t)
	template := v1alpha1.DeployItemTemplate{Name: "one", DependsOn: []string{"other"}}
	exec := withItems(template)
	if _, err := b.createItem(t.Context(), exec, &exec.Spec.DeployItems[0], nil); err != nil {
		t.Fatal(err)
	}
	exec.Spec.DeployItems[0].DependsOn = nil
	item, err := b.createItem(t.Context(), exec, &exec.Spec.DeployItems[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	if needs := item.Annotations[v1alpha1.ExecutionDependsOnAnnotation]; needs != "" || len(b.items(t)) != 1 {
		t.Errorf("there are %d items; this one depends on %q still", len(b.items(t)), needs)
	}
}
