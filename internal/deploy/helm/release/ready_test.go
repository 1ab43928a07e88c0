package release

import (
	"errors"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/release/common"

	"go.landscaper.dev/internal/deploy/readiness"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
)

// TestLostWhileAwaited deletes objects of a release while its installation waits for them:
// they are created again with the marks of the release, at once and then after a pause.
func TestLostWhileAwaited(t *testing.T) {
	for _, noWatch := range []bool{false, true} {
		cluster, job := fakecluster.New(), &testJob{}
		if noWatch {
			cluster.NoWatch = errors.New("refused")
		}
		desiredState := wishFor("config", "pod")
		desiredState.Hooks, desiredState.Wait = nil, true
		operation, err := Plan(t.Context(), storeOn(cluster), job, desiredState, nil, Install)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = operation.Close() }()
		waiting, _ := operation.Continue(t.Context())
		if !noWatch && !strings.Contains(strings.Join(waiting, ""), "Pod here/pod to become ready (it has no condition Ready yet)") {
			t.Fatalf("waiting %v", waiting)
		}
		before := cluster.Find("Pod", "here", "pod")
		cluster.Remove("Pod", "here", "pod")
		waiting, _ = operation.Continue(t.Context())
		after := cluster.Find("Pod", "here", "pod")
		if after == nil || after.GetUID() == before.GetUID() || !owned(after, "shop", "here") {
			t.Fatalf("it was not created again: %v, waiting %v", after, waiting)
		}
		cluster.Remove("Pod", "here", "pod")
		waiting, err = operation.Continue(t.Context())
		if err != nil || cluster.Find("Pod", "here", "pod") != nil || !strings.Contains(strings.Join(waiting, ""), "Pod here/pod to become ready (it does not exist any more; it was deleted 2 times (") {
			t.Errorf("a client that deletes it all the time keeps the cluster busy: waiting %v, error %v", waiting, err)
		}
		job.expired = true
		if _, err := operation.Continue(t.Context()); err == nil || !strings.Contains(err.Error(), "it was deleted 2 times") || cluster.Find("Pod", "here", "pod") != nil {
			t.Errorf("error %v at the end of the time", err)
		}
	}
}

// TestReadyAfterALoss ends the installation once the object that was created again is ready.
func TestReadyAfterALoss(t *testing.T) {
	cluster := fakecluster.New()
	desiredState := wishFor("config", "pod")
	desiredState.Hooks, desiredState.Wait, desiredState.Rule = nil, true, readiness.Unready
	operation, err := Plan(t.Context(), storeOn(cluster), &testJob{}, desiredState, nil, Install)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = operation.Close() }()
	if _, err := operation.Continue(t.Context()); err != nil {
		t.Fatal(err)
	}
	cluster.Remove("Pod", "here", "pod")
	if _, err := operation.Continue(t.Context()); err != nil {
		t.Fatal(err)
	}
	pod := cluster.Find("Pod", "here", "pod")
	pod.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}
	cluster.Put(pod)
	if waiting, err := operation.Continue(t.Context()); err != nil || len(waiting) > 0 || !operation.Over() {
		t.Fatalf("waiting %v, error %v", waiting, err)
	}
	if got := statuses(t, cluster); len(got) != 1 || got[0] != common.StatusDeployed {
		t.Errorf("statuses %v", got)
	}
}
