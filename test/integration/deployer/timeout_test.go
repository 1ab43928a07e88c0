package deployer_test

import (
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/release/common"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
)

// TestTimeoutNamesTheWait runs jobs into the end of their time in stages where the work
// begins each attempt with a checkpoint: the error says what was waited for.
func TestTimeoutNamesTheWait(t *testing.T) {
	t.Parallel()
	tells := func(t *testing.T, item *v1alpha1.DeployItem, phase v1alpha1.DeployItemPhase, stage, wait string) {
		t.Helper()
		message := func(item *v1alpha1.DeployItem) string { return item.Status.LastError.Message }
		ended := awaitLimit(t, item, func(item *v1alpha1.DeployItem) bool { return strings.Contains(message(item), wait) })
		last := ended.Status.LastError
		if ended.Status.Phase != phase || last.Operation != "StandardTimeoutChecker.TimeoutExceeded" || last.Reason != "ProgressingTimeout" || !hasCode(last, v1alpha1.ErrorTimeout) {
			t.Errorf("phase %s, last error %+v", ended.Status.Phase, last)
		}
		if want := `timeout at: "` + stage + `": waiting for ` + wait; last.Message != want {
			t.Errorf("message %q, want %q", last.Message, want)
		}
	}
	t.Run("a deletion", func(t *testing.T) {
		namespace := namespaces(t)
		createTarget(t, namespace, "cluster", access)
		item := newItem(t, namespace, "guarded", oneConfigMap)
		create(t, item)
		awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
		hold(t, namespace, "smallest", "acme.example/guard")
		if err := items.Delete(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		tells(t, item, v1alpha1.DeployItemPhases.DeleteFailed, "deployer: delete resources", "the end of ConfigMap "+namespace+"/smallest (finalizer acme.example/guard)")
	})
	t.Run("orphans", func(t *testing.T) {
		namespace := namespaces(t)
		createTarget(t, namespace, "cluster", access)
		item := newItem(t, namespace, "guarded", twoConfigMaps)
		create(t, item)
		awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
		hold(t, namespace, "goes", "acme.example/guard")
		if err := items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err != nil {
			t.Fatal(err)
		}
		change(t, item, func() error {
			setConfig(t, item, configHead)
			return items.Update(t.Context(), item)
		})
		tells(t, item, v1alpha1.DeployItemPhases.Failed, "deployer: delete resources", "the end of ConfigMap "+namespace+"/goes (finalizer acme.example/guard)")
	})
	t.Run("a release that another client is at work on", func(t *testing.T) {
		item := helmItem(t, notes, "")
		put(t, foreign(t, item.Namespace, 1, common.StatusPendingInstall, "theirs"), false)
		tells(t, item, v1alpha1.DeployItemPhases.Failed, "helm deployer: start apply files", "another client to finish with release "+item.Namespace+"/notes (revision 1 is pending-install), or roll it back, or delete this revision, if no client works on it")
	})
}
