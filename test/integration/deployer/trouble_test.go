package deployer_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/test/lab"
)

// troubled lets the target misbehave by rules until the test ends, or until the
// function is called that it returns. It also closes all connections, if cut is set.
func troubled(t *testing.T, cut bool, rules ...lab.Rule) (calm func()) {
	t.Helper()
	if err := target.SetFaults(t.Context(), lab.Faults{Seed: 1, Rules: rules}); err != nil {
		t.Fatal(err)
	}
	if cut {
		if err := target.CutConnections(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	calm = func() {
		if err := target.SetFaults(context.Background(), lab.Faults{}); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(calm)
	return calm
}

// awaitError waits until an item reports an error.
func awaitError(t *testing.T, item *v1alpha1.DeployItem, want string) *v1alpha1.DeployItem {
	t.Helper()
	return awaitItem(t, item, "the error "+want, func(item *v1alpha1.DeployItem) bool {
		return item.Status.LastError != nil && strings.Contains(item.Status.LastError.Message, want)
	})
}

// beside deploys an item to the other cluster: an item does not block its neighbours.
func beside(t *testing.T, namespace string) {
	t.Helper()
	createTarget(t, namespace, "edge", edgeAccess)
	item := newItem(t, namespace, "beside", strings.ReplaceAll(oneConfigMap, "smallest", "beside"))
	item.Spec.Target.Name = "edge"
	create(t, item)
	awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
}

// gone is a cluster that cannot be reached any more.
var gone = lab.Rule{Name: "gone", Share: 1, Action: "cut"}

// tries is how often something was tried in a namespace that went wrong by a rule.
func tries(t *testing.T, namespace string) (tried int) {
	t.Helper()
	decided, err := target.Decisions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, decision := range decided {
		if decision.Hit && decision.Request.Namespace == namespace {
			tried++
		}
	}
	return tried
}

// awaitTry waits until something was tried. The proxy can only be asked for that.
func awaitTry(t *testing.T, namespace string) {
	t.Helper()
	late, tick := time.After(waitLimit), time.NewTicker(50*time.Millisecond)
	defer tick.Stop()
	for tries(t, namespace) == 0 {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("nothing is tried")
		}
	}
}

// TestTroubledTarget deploys to a cluster that throttles, fails or hangs: the item says so, retries
// later and later, and succeeds when the cluster answers. Meanwhile items on other clusters are not
// held up.
func TestTroubledTarget(t *testing.T) {
	onConfigMaps := func(rule lab.Rule) lab.Rule {
		rule.Name, rule.Verbs, rule.Resources, rule.Share = "trouble", []string{"create"}, []string{"configmaps"}, 1
		return rule
	}
	tests := []struct {
		reason string
		rule   lab.Rule
		shown  string
	}{
		{"the cluster throttles", onConfigMaps(lab.Rule{Action: "status", Status: 429}), "the API server answers TooManyRequests (429)"},
		{"the cluster fails", onConfigMaps(lab.Rule{Action: "status", Status: 503}), "the API server answers ServiceUnavailable (503)"},
		{"the cluster breaks the connection", onConfigMaps(lab.Rule{Action: "cut"}), "talk to the cluster at"},
		{"the cluster hangs", onConfigMaps(lab.Rule{Action: "delay", Delay: "10m"}), ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			namespace := namespaces(t)
			createTarget(t, namespace, "cluster", access)
			test.rule.Namespaces = []string{namespace}
			calm, begun := troubled(t, false, test.rule), time.Now()
			item := newItem(t, namespace, "item", oneConfigMap)
			create(t, item)
			if test.shown != "" {
				failing := awaitItem(t, item, "the error", func(item *v1alpha1.DeployItem) bool { return item.Status.LastError != nil })
				if last := failing.Status.LastError; failing.Status.Phase.IsFinal() || !strings.Contains(last.Message, "ConfigMap "+namespace+"/smallest: "+test.shown) {
					t.Errorf("phase %s, last error %+v", failing.Status.Phase, last)
				}
			}
			awaitTry(t, namespace)
			beside(t, namespace)
			if err := items.Get(t.Context(), client.ObjectKeyFromObject(item), item); err != nil || item.Status.Phase.IsFinal() {
				t.Errorf("phase %s before the trouble is over, error %v", item.Status.Phase, err)
			}
			tried, passed, most := tries(t, namespace), time.Since(begun), 12
			if test.rule.Status == http.StatusTooManyRequests {
				// Who throttles says that he may be asked again after a second.
				most = max(most, 2+int(passed.Seconds()))
			}
			if tried > most {
				t.Errorf("the creation was tried %d times in %s", tried, passed)
			}
			calm()
			if test.rule.Action == "delay" {
				// A request that hangs continues to hang.
				if err := target.CutConnections(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
			if ended.Status.LastError != nil {
				t.Errorf("last error %+v", ended.Status.LastError)
			}
			remove(t, ended)
			awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
		})
	}
}

const awaitsSignal = configHead + `
manifests:
- manifest: {apiVersion: v1, kind: ConfigMap, metadata: {name: mine, namespace: NAMESPACE}}
readinessChecks:
  custom:
  - name: signal
    resourceSelector: {apiVersion: v1, kind: ConfigMap, name: signal, namespace: NAMESPACE}
    requirements: [{jsonPath: .data.go, operator: exists}]
`

// TestTargetDisappearsAndReturns makes the cluster unreachable while an item waits for an object, while
// another one begins and while a third one is deleted. When it is back, all end by themselves;
// changes of the meantime are seen.
func TestTargetDisappearsAndReturns(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	waiting := newItem(t, namespace, "waiting", awaitsSignal)
	create(t, waiting)
	awaitText(t, waiting, "waiting for ConfigMap "+namespace+"/signal to become ready")
	leaving := newItem(t, namespace, "leaving", strings.ReplaceAll(oneConfigMap, "smallest", "leaving"))
	create(t, leaving)
	ended := awaitEnd(t, leaving, v1alpha1.DeployItemPhases.Succeeded)

	calm := troubled(t, true, gone)
	beginning := newItem(t, namespace, "beginning", strings.ReplaceAll(oneConfigMap, "smallest", "beginning"))
	create(t, beginning)
	remove(t, ended)
	for _, item := range []*v1alpha1.DeployItem{beginning, ended} {
		if failing := awaitError(t, item, "talk to the cluster at"); failing.Status.Phase.IsFinal() {
			t.Errorf("%s has given up: %+v", item.Name, failing.Status)
		}
	}
	beside(t, namespace)
	signal := configMap(namespace, "signal")
	signal.Data = map[string]string{"go": "now"}
	if err := deployed.Create(t.Context(), signal); err != nil {
		t.Fatal(err)
	}
	if err := items.Get(t.Context(), client.ObjectKeyFromObject(waiting), waiting); err != nil || waiting.Status.Phase.IsFinal() {
		t.Errorf("phase %s although the cluster does not answer, error %v", waiting.Status.Phase, err)
	}
	calm()
	awaitEnd(t, waiting, v1alpha1.DeployItemPhases.Succeeded)
	awaitEnd(t, beginning, v1alpha1.DeployItemPhases.Succeeded)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
	if err := deployed.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "leaving"}, &corev1.ConfigMap{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the object of the item that left: %v", err)
	}
}

// TestTargetDisappearsDuringADeletion ends a deletion in time that cannot be finished, says what is left,
// and continues there with the next job.
func TestTargetDisappearsDuringADeletion(t *testing.T) {
	namespace := namespaces(t)
	createTarget(t, namespace, "cluster", access)
	item := newItem(t, namespace, "item", strings.ReplaceAll(twoConfigMaps, "goes", "first"))
	create(t, item)
	ended := awaitEnd(t, item, v1alpha1.DeployItemPhases.Succeeded)
	calm := troubled(t, false, lab.Rule{Name: "half", Verbs: []string{"delete"}, Resources: []string{"configmaps"}, Names: []string{"stays"}, Namespaces: []string{namespace}, Share: 1, Action: "status", Status: 503})
	if err := items.Delete(t.Context(), ended); err != nil {
		t.Fatal(err)
	}
	ended = awaitLimit(t, ended, func(item *v1alpha1.DeployItem) bool {
		return strings.Contains(item.Status.LastError.Message, "ConfigMap "+namespace+"/stays")
	})
	if last := ended.Status.LastError; ended.Status.Phase != v1alpha1.DeployItemPhases.DeleteFailed || !hasCode(last, v1alpha1.ErrorTimeout) || !strings.Contains(last.Message, "ConfigMap "+namespace+"/stays") {
		t.Errorf("last error %+v", last)
	}
	if got := managed(t, ended); len(got) != 1 || got[0] != "stays" {
		t.Errorf("the remaining objects are recorded as %v", got)
	}
	calm()
	before := mark(t, target)
	handOver(t, ended)
	awaitGone(t, items, &v1alpha1.DeployItemList{}, ended)
	if got := count(t, target, namespace, before); got["delete configmaps"] != 1 {
		t.Errorf("requests %v", got)
	}
}
