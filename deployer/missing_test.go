package deployer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// onEdge lets an item have a Target, which need not exist.
func onEdge(item *v1alpha1.DeployItem) {
	item.Spec.Target = &v1alpha1.ObjectReference{Namespace: "ns", Name: "edge"}
}

func edge() *v1alpha1.Target {
	return &v1alpha1.Target{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "edge"}}
}

func (s *stage) create(object client.Object) {
	s.Helper()
	if err := s.reconciler.client.Create(s.Context(), object); err != nil {
		s.Fatal(err)
	}
}

// TestMissingTarget waits for the Target, reports that once, and continues when it exists: also if
// it is created between the read and the sleep, when no item can be signalled yet.
func TestMissingTarget(t *testing.T) {
	s := onStage(t, &script{}, newItem(onEdge))
	s.look()
	s.expect("Progressing", false, "Target ns/edge does not exist: create it")
	if last := s.item().Status.LastError; last.Operation != "reconcilePrivate" || last.Reason != "NoTargetFound" || !slices.Contains(last.Codes, v1alpha1.ErrorForInfoOnly) {
		t.Errorf("last error %+v", last)
	}
	s.clock = s.clock.Add(time.Minute)
	version := s.item().ResourceVersion
	if s.look(); s.item().ResourceVersion != version || len(s.emitted()) != 1 {
		t.Error("the wait is reported again although nothing has changed")
	}
	s.create(edge())
	s.look()
	s.expect("Succeeded", true, "")
}

// TestMissingTargetTooLong ends with the error that the published deployers have, and
// says that the time is over.
func TestMissingTargetTooLong(t *testing.T) {
	s := onStage(t, &script{}, newItem(onEdge))
	s.look()
	s.clock = s.clock.Add(v1alpha1.DefaultDeployItemTimeout)
	s.look()
	s.expect("Failed", true, "the time is over and Target ns/edge does not exist: create it, and start the job again")
	if last := s.item().Status.LastError; last.Operation != "reconcilePrivate" || last.Reason != "NoTargetFound" || !slices.Contains(last.Codes, v1alpha1.ErrorTimeout) {
		t.Errorf("last error %+v", last)
	}
}

// TestTargetDisappears waits in the middle of a job, too.
func TestTargetDisappears(t *testing.T) {
	s := onStage(t, &script{reconcile: func(context.Context, *Item) (Result, error) { return WaitFor("a"), nil }}, newItem(onEdge), edge())
	s.look()
	s.expect("Progressing", false, "")
	if err := s.reconciler.client.Delete(t.Context(), edge()); err != nil {
		t.Fatal(err)
	}
	s.look()
	s.expect("Progressing", false, "Target ns/edge does not exist")
	s.create(edge())
	s.look()
	s.expect("Progressing", false, "")
	if len(s.script.calls) != 2 {
		t.Errorf("calls %v", s.script.calls)
	}
}

// TestDeletionWithoutTarget leaves it to the deployer whether it needs the Target: where nothing
// was deployed the item is deleted; otherwise it waits, and the message says the remedy.
func TestDeletionWithoutTarget(t *testing.T) {
	deleted := func(item *v1alpha1.DeployItem) {
		onEdge(item)
		item.DeletionTimestamp = &metav1.Time{Time: time.Unix(998, 0)}
	}
	tests := []struct {
		reason string
		needs  bool
	}{{"the deployer has nothing to remove", false}, {"the deployer has something to remove", true}}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := onStage(t, &script{remove: func(ctx context.Context, item *Item) (Result, error) {
				if !test.needs {
					return Done(), nil
				}
				_, err := item.Cluster(ctx)
				return Done(), err
			}}, newItem(deleted))
			s.look()
			if !test.needs {
				if err := s.reconciler.client.Get(t.Context(), key, &v1alpha1.DeployItem{}); client.IgnoreNotFound(err) != nil || err == nil {
					t.Errorf("the item is still there: %v", err)
				}
				return
			}
			s.expect("Deleting", false, "Target ns/edge does not exist: create it, or annotate the item with "+v1alpha1.DeleteWithoutUninstallAnnotation+"=true")
			s.clock = s.clock.Add(v1alpha1.DefaultDeployItemTimeout)
			s.look()
			s.expect("DeleteFailed", true, "to leave what it has deployed, and start the job again")
		})
	}
}

// TestWhoWaitsForATarget enqueues the items with a job that use a Target when it or its Secret
// changes: also one whose job is of our own making, and not yet in the cache.
func TestWhoWaitsForATarget(t *testing.T) {
	idle := func(item *v1alpha1.DeployItem) { item.Status.JobIDFinished = item.Status.JobID }
	begun := func(s *stage) {
		own := s.item()
		own.Status.JobID = "own"
		s.reconciler.memory.begin(own)
	}
	tests := []struct {
		reason string
		item   *v1alpha1.DeployItem
		before func(*stage)
		want   bool
	}{
		{"an item with a job", newItem(onEdge), func(*stage) {}, true},
		{"an item without a job", newItem(onEdge, idle), func(*stage) {}, false},
		{"an item whose own job is not in the cache", newItem(onEdge, idle), begun, true},
		{"an item with another Target", newItem(), func(*stage) {}, false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			s := onStage(t, &script{}, test.item)
			test.before(s)
			requests := s.reconciler.waiting(t.Context(), "ns", client.MatchingFields{byTarget: "edge"})
			if signalled := len(requests) == 1 && requests[0].NamespacedName == key; signalled != test.want {
				t.Errorf("enqueued: %v", requests)
			}
		})
	}
}

// TestMissingContext waits for the Context, whose creation enqueues the item: a Context that is
// created before Contexts are watched is found at once.
func TestMissingContext(t *testing.T) {
	needy := func() *script {
		return &script{reconcile: func(ctx context.Context, item *Item) (Result, error) {
			_, err := item.Context(ctx)
			return Done(), err
		}}
	}
	named := func(item *v1alpha1.DeployItem) { item.Spec.Context = "late" }
	late := func() *v1alpha1.Context {
		return &v1alpha1.Context{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "late"}}
	}
	t.Run("the Context is created later", func(t *testing.T) {
		s := onStage(t, needy(), newItem(named))
		s.look()
		s.expect("Progressing", false, "Context ns/late does not exist: create it")
		if users := s.reconciler.memory.users(need{contextKind, client.ObjectKeyFromObject(late())}); !slices.Contains(users, key) {
			t.Errorf("it would wake %v", users)
		}
		s.create(late())
		s.reconciler.requeue(key)
		s.look()
		s.expect("Succeeded", true, "")
	})
	t.Run("the Context is created between the read and the start of the watch", func(t *testing.T) {
		s := onStage(t, needy(), newItem(named))
		s.reconciler.followContexts = func(context.Context) error { s.create(late()); return nil }
		s.look()
		s.expect("Succeeded", true, "")
	})
	t.Run("the Context is never created", func(t *testing.T) {
		s := onStage(t, needy(), newItem(named))
		s.look()
		s.clock = s.clock.Add(v1alpha1.DefaultDeployItemTimeout)
		s.look()
		s.expect("Failed", true, "timeout before the work could begin: Context ns/late does not exist: create it")
		if last := s.item().Status.LastError; !slices.Contains(last.Codes, v1alpha1.ErrorTimeout) {
			t.Errorf("last error %+v", last)
		}
	})
	t.Run("Contexts cannot be followed", func(t *testing.T) {
		s := onStage(t, needy(), newItem(named))
		s.reconciler.followContexts = func(context.Context) error { return errors.New("forbidden") }
		if result := s.look(); result.RequeueAfter != firstBackoff || !strings.Contains(s.item().Status.LastError.Message, "read Context ns/late: forbidden") {
			t.Errorf("again after %s: %+v", result.RequeueAfter, s.item().Status.LastError)
		}
	})
}
