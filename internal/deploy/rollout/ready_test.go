package rollout

import (
	"errors"
	"strings"
	"testing"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/deploy/target/fakecluster"
	"go.landscaper.dev/internal/runtime/job"
)

type jobError = job.Error

func TestReadiness(t *testing.T) {
	tests := []struct {
		reason  string
		objects []string
		disable bool
		expired bool
		waits   string
		fails   string
	}{
		{"what exists is ready", []string{configMap}, false, false, "", ""},
		{"a pod has to start", []string{pod}, false, false, "Pod ns/p to become ready (it has no condition Ready yet)", ""},
		{"the job does not wait when the check is switched off", []string{pod}, true, false, "", ""},
		{"the time is over: the object and the reason are named", []string{pod}, false, true, "", `timeout at: "deployer: during readiness check - resource ns/p of type Pod": it has no condition Ready yet`},
		{"the time is over: the number of further objects is named", []string{pod, `{apiVersion: v1, kind: Pod, metadata: {name: q, namespace: ns}}`}, false, true, "", "(and 1 more objects are not ready)"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			desiredState := wishFor(objects(t, test.objects...))
			desiredState.SkipReadiness = test.disable
			r := start(t, &testJob{expired: test.expired}, fakecluster.New(), desiredState, nil)
			waiting, err := r.Continue(t.Context())
			if got := strings.Join(waiting, ", "); got != test.waits {
				t.Errorf("it waits for %q, want %q", got, test.waits)
			}
			if (err == nil) != (test.fails == "") || (err != nil && !strings.Contains(err.Error(), test.fails)) {
				t.Errorf("error %v, want %q", err, test.fails)
			}
		})
	}
}

func TestReadinessEndsTheWait(t *testing.T) {
	cluster, job := fakecluster.New(), &testJob{}
	r := start(t, job, cluster, wishFor(objects(t, pod)), nil)
	mustWait(t, r, "Pod ns/p")
	cluster.Counts()
	before := job.wakes
	cluster.Put(objects(t, readyPod)[0].Object)
	if job.wakes == before {
		t.Error("nothing was triggered")
	}
	mustEnd(t, r)
	if got := cluster.Counts(); len(got) != 0 {
		t.Errorf("requests although the watch knows it: %v", got)
	}
}

// TestHopeless ends the job early if waiting does not help, in the default check of
// mode kstatus and in a check by expressions, and names the objects.
func TestHopeless(t *testing.T) {
	const crashing = `, namespace: ns}, status: {phase: Running, containerStatuses: [{name: web, state: {waiting: {reason: CrashLoopBackOff}}}]}}`
	pods := objects(t, pod, `{apiVersion: v1, kind: Pod, metadata: {name: q`+crashing, `{apiVersion: v1, kind: Pod, metadata: {name: r`+crashing)
	desiredState := wishFor(pods)
	r := start(t, &testJob{}, fakecluster.New(), desiredState, nil)
	mustWait(t, r, "Pod ns/p to become ready")
	desiredState.Readiness = deployer.ReadinessModeKstatus
	_, err := start(t, &testJob{}, fakecluster.New(), desiredState, nil).Continue(t.Context())
	var shown *jobError
	if !errors.As(err, &shown) || shown.Operation != "WaitForObjectsReady" || shown.Reason != "ObjectFailed" || job.OutcomeOf(err) != job.Terminal ||
		!strings.Contains(err.Error(), "Pod ns/q will not become ready by itself: Containers in CrashLoop state: web; container web ends again and again (CrashLoopBackOff) (and 1 more objects)") {
		t.Errorf("error %v", err)
	}
	desiredState = wishFor(objects(t, configMap))
	desiredState.Checks = checks(t, `[{name: by expression, resourceSelector: {apiVersion: v1, kind: ConfigMap, name: signal, namespace: ns}, expressions: {failed: "data.go == '2'", current: "data.go == '1'"}}]`)
	cluster := fakecluster.New()
	r = start(t, &testJob{}, cluster, desiredState, nil)
	mustWait(t, r, `ConfigMap ns/signal to become ready (check "by expression": it does not exist yet)`)
	cluster.Put(objects(t, strings.Replace(signal, `"1"`, `"2"`, 1))[0].Object)
	if _, err := r.Continue(t.Context()); err == nil || !strings.Contains(err.Error(), "ConfigMap ns/signal will not become ready by itself: check \"by expression\": its condition failed holds") || job.OutcomeOf(err) != job.Terminal {
		t.Errorf("error %v", err)
	}
}
