package installation

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/fakeapi"
	"go.landscaper.dev/internal/runtime/expectations"
	"go.landscaper.dev/internal/runtime/reporter"
)

// TestHistoryIsRewound: the store of the API server was restored from a backup, so that an
// Installation or its Execution is older than what was written. The attempt leaves a wake, and one
// of the next uses what the API server has.
func TestHistoryIsRewound(t *testing.T) {
	for _, test := range []struct {
		reason string
		of     func(inst *v1alpha1.Installation, exec *v1alpha1.Execution) client.Object
	}{
		{"the Installation", func(inst *v1alpha1.Installation, _ *v1alpha1.Execution) client.Object { return inst }},
		{"the Execution of the Installation", func(_ *v1alpha1.Installation, exec *v1alpha1.Execution) client.Object { return exec }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inst, exec := parentAndExecution()
				c := fakeapi.New(t, inst, exec)
				r := &Reconciler{Client: c, Reader: c, Now: time.Now}
				object := test.of(inst, exec)
				object.SetResourceVersion("999999")
				r.memory.Of(object.GetUID()).Written.Record(object)
				request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(inst)}
				for range 3 {
					result, err := r.Reconcile(t.Context(), request)
					if err != nil {
						t.Fatal(err)
					}
					if result.RequeueAfter == 0 {
						if _, behind := expectations.RetryAfter(r.memory.await(t.Context(), c, object)); behind {
							t.Error("an end without a wake")
						}
						return
					}
					<-time.After(result.RequeueAfter)
				}
				t.Error("it waits for ever")
			})
		})
	}
}

func parentAndExecution() (*v1alpha1.Installation, *v1alpha1.Execution) {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "shop", UID: "inst"}}
	exec := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "shop", UID: "exec", Finalizers: []string{v1alpha1.Finalizer},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(), Kind: "Installation", Name: "shop", UID: "inst"}},
	}}
	return inst, exec
}

// TestDeletionThatNeverWas: an Execution was deleted, and the store restored from a backup. The
// attempt waits for the deletion with a wake, and deletes again when the API server does not show
// it.
func TestDeletionThatNeverWas(t *testing.T) {
	for _, test := range []struct {
		reason string
		change func(live *v1alpha1.Execution) *v1alpha1.Execution
		// again says that the Execution is to be deleted again.
		again bool
	}{
		{"the cache is late", func(live *v1alpha1.Execution) *v1alpha1.Execution {
			now := metav1.Now()
			live.DeletionTimestamp = &now
			return live
		}, false},
		{"the Execution does not exist any more", func(*v1alpha1.Execution) *v1alpha1.Execution { return nil }, false},
		{"the store was restored", func(live *v1alpha1.Execution) *v1alpha1.Execution { return live }, true},
		{"another Execution has its name", func(live *v1alpha1.Execution) *v1alpha1.Execution { live.UID = "other"; return live }, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inst, exec := parentAndExecution()
				var known []client.Object
				if live := test.change(exec.DeepCopy()); live != nil {
					known = append(known, live)
				}
				r := &Reconciler{Client: fakeapi.New(t, inst, exec), Reader: fakeapi.New(t, known...), Now: time.Now}
				inst.Status.InstallationPhase = v1alpha1.InstallationPhases.Deleting
				r.memory.Of(inst.UID).marks.note(executionDeleted, true)
				pause, behind := expectations.RetryAfter(r.awaitExecution(t.Context(), inst, exec))
				if !behind || pause <= 0 {
					t.Fatalf("%s, %t: the cache is given some time", pause, behind)
				}
				<-time.After(pause)
				_, behind = expectations.RetryAfter(r.awaitExecution(t.Context(), inst, exec))
				if behind == test.again || r.memory.Of(inst.UID).marks.has(executionDeleted) == test.again {
					t.Errorf("behind %t, known as deleted %t", behind, r.memory.Of(inst.UID).marks.has(executionDeleted))
				}
			})
		})
	}
}

// unasked is an API server that must not be asked.
type unasked struct {
	client.Reader
	t *testing.T
}

// Get implements client.Reader.
func (u unasked) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	u.t.Errorf("the API server is asked for %s", key)
	return nil
}

// TestDeletionAskedForAgain: an Execution is deleted once more, long after the first time, because
// the status was not stored then. The cache gets the time anew in which it may show the deletion.
func TestDeletionAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inst, exec := parentAndExecution()
		r := &Reconciler{Client: fakeapi.New(t, inst, exec), Reader: unasked{t: t}, Now: time.Now}
		for range 2 {
			s := &snapshot{subject: reporter.Installation(inst)}
			s.Inst, s.Exec = inst, exec.DeepCopy()
			_ = r.remove(t.Context(), s) // the status is not stored
			inst.Status.InstallationPhase = v1alpha1.InstallationPhases.Deleting
			<-time.After(deletionLagLimit - time.Millisecond)
			if _, behind := expectations.RetryAfter(r.awaitExecution(t.Context(), inst, exec)); !behind {
				t.Error("the cache gets no time")
			}
		}
	})
}
