package deployer_test

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestPodsSayWhy: what a workload or a hook waits for is one hop away, in its pods. It is
// asked for while the wait lasts, and once more when the time is over.
func TestPodsSayWhy(t *testing.T) {
	t.Parallel()
	const unschedulable = ": it cannot be scheduled (Unschedulable): 0/1 nodes are available: "
	t.Run("a Deployment, while it waits and at the end", func(t *testing.T) {
		namespace := namespaces(t)
		createTarget(t, namespace, "cluster", access)
		item := newItem(t, namespace, "web", oneDeployment)
		item.Spec.Timeout = duration("20s")
		before := mark(t, target)
		create(t, item)
		awaitText(t, item, unschedulable)
		ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Failed)
		last := ended.Status.LastError
		if !strings.Contains(last.Message, namespace+`/web of type Deployment": `) || !strings.Contains(last.Message, "; pod web-") || !strings.Contains(last.Message, unschedulable) {
			t.Errorf("last error %+v", last)
		}
		if lists := count(t, target, namespace, before)["list pods"]; lists < 2 || lists > 3 {
			t.Errorf("pods were listed %d times in 20s", lists)
		}
	})
	t.Run("a hook", func(t *testing.T) {
		item := helmItem(t, with(notes, map[string]string{"templates/hook.yaml": gated(hookJob("pre-install", "before", ""))}), "")
		create(t, item)
		awaitText(t, item, "pre-install hook Job "+item.Namespace+"/before to complete (1 pods active, 0 failed; pod before-")
		openGate(t, item.Namespace)
		awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	})
}
