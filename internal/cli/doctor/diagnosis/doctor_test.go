package diagnosis

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	deliveryv1alpha1 "go.landscaper.dev/api/delivery/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

func installation(change func(*v1alpha1.Installation)) Facts {
	inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop", CreationTimestamp: ago(time.Hour)}}
	change(inst)
	return Facts{Snapshot: inspect.Snapshot{Installations: []*v1alpha1.Installation{inst}}}
}

func item(asked time.Duration, phase v1alpha1.DeployItemPhase) Facts {
	trigger := ago(asked)
	object := &v1alpha1.DeployItem{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "x"}, Spec: v1alpha1.DeployItemSpec{Type: "t"}}
	object.Status.JobID, object.Status.Phase, object.Status.TransitionTimes = "j", phase, &v1alpha1.TransitionTimes{TriggerTime: &trigger}
	return Facts{Snapshot: inspect.Snapshot{DeployItems: []*v1alpha1.DeployItem{object}}}
}

func health(status v1alpha1.LsHealthCheckStatus, age time.Duration) Facts {
	return Facts{Healths: []v1alpha1.LsHealthCheck{{ObjectMeta: metav1.ObjectMeta{Namespace: "ls", Name: "h"}, Status: status, Description: "no leader", LastUpdateTime: ago(age)}}}
}

func lease(holder string, age time.Duration) Facts {
	return Facts{Leases: []Lease{{Namespace: "ls", Holder: holder, Renewed: now.Add(-age)}}}
}

// skewed are facts seen by a machine whose clock is an hour ahead.
func skewed(facts Facts) Facts {
	facts.Server = now.Add(-time.Hour)
	return facts
}

// queued is an item of a running Execution whose deployer shares its process: the status of
// the item does not show the job.
func queued(since time.Duration) Facts {
	facts, began := item(0, ""), ago(since)
	facts.Snapshot.DeployItems[0].Status = v1alpha1.DeployItemStatus{}
	facts.Snapshot.DeployItems[0].Labels = map[string]string{v1alpha1.ExecutionManagedByLabel: "shop"}
	exec := &v1alpha1.Execution{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "shop"}}
	exec.Status = v1alpha1.ExecutionStatus{JobID: "j", ExecutionPhase: "Progressing", TransitionTimes: &v1alpha1.TransitionTimes{TriggerTime: &began}}
	facts.Snapshot.Executions = []*v1alpha1.Execution{exec}
	facts.Snapshot.Installations = installation(func(i *v1alpha1.Installation) {
		i.Status.JobID, i.Status.InstallationPhase, i.Status.ExecutionReference = "j", "Progressing", &v1alpha1.ObjectReference{Namespace: "n", Name: "shop"}
	}).Snapshot.Installations
	return facts
}

// untaken is an Installation at work whose Execution has not taken its job.
func untaken(since time.Duration) Facts {
	facts := queued(since)
	facts.Snapshot.Installations[0].Finalizers = []string{v1alpha1.Finalizer}
	facts.Snapshot.Executions[0].Status = v1alpha1.ExecutionStatus{}
	facts.Snapshot.Executions[0].CreationTimestamp = ago(since)
	return facts
}

func TestJudge(t *testing.T) {
	for _, test := range []struct {
		reason, check string
		facts         Facts
		severity      Severity
		message       string
	}{
		{"a definition is missing", "definitions", Facts{Definitions: map[string]string{}, Wanted: map[string]string{"a": "3"}}, Problem, "a is not installed"},
		{"an older definition", "definitions", Facts{Definitions: map[string]string{"a": "2"}, Wanted: map[string]string{"a": "3"}}, Warning, "older (revision 2)"},
		{"a newer definition", "definitions", Facts{Definitions: map[string]string{"a": "4"}, Wanted: map[string]string{"a": "3"}}, Warning, "newer (revision 4)"},
		{"a definition of another distribution", "definitions", Facts{Definitions: map[string]string{"a": ""}, Wanted: map[string]string{"a": "3"}}, OK, "fit this release"},
		{"definitions that the user may not read", "definitions", Facts{Wanted: map[string]string{"a": "3"}}, Warning, "you may not read"},
		{"a permission", "permissions", Facts{Denied: []string{"list deployitems"}}, Warning, "you may not list deployitems"},
		{"clocks that agree", "clocks", Facts{Server: now.Add(time.Second)}, OK, "agree"},
		{"clocks that differ", "clocks", Facts{Server: now.Add(time.Minute)}, Warning, "by -1m0s"},
		{"a healthy server", "controllers", health("Ok", time.Minute), OK, "nothing waits"},
		{"an unhealthy server", "controllers", health("Failed", time.Minute), Problem, "no leader"},
		{"a server that is silent", "controllers", health("Ok", time.Hour), Problem, "the server does not run"},
		{"a server that holds its lease", "controllers", lease("pod-1", 10*time.Second), OK, "a server runs"},
		{"a server that was killed", "controllers", lease("pod-1", 10*time.Minute), Problem, "the server pod-1 in namespace ls does not run"},
		{"a server that has ended", "controllers", lease("", 10*time.Minute), Problem, "its lease has no holder"},
		{"a server that was moved elsewhere", "controllers", Facts{Leases: append(lease("", time.Hour).Leases, Lease{Namespace: "new", Holder: "pod-2", Renewed: now})}, Warning, "no server runs in namespace ls"},
		{"a clock that is ahead does not make a health check outdated", "controllers", skewed(health("Ok", time.Hour)), OK, "nothing waits"},
		{"a clock that is ahead does not make a lease outdated", "controllers", skewed(lease("pod-1", time.Hour)), OK, "a server runs"},
		{"a request that no controller picks up", "controllers", installation(func(i *v1alpha1.Installation) {
			i.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
		}), Problem, `operation "reconcile" of Installation n/shop has waited`},
		{"a request that a policy defers", "controllers", installation(func(i *v1alpha1.Installation) {
			i.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
			i.Status.Conditions = []v1alpha1.Condition{{Type: deliveryv1alpha1.DeferredCondition, Status: v1alpha1.ConditionTrue, Reason: "Frozen", Message: "deferred"}}
		}), OK, "nothing waits"},
		{"a first job that was picked up by a server that has ended", "controllers", installation(func(i *v1alpha1.Installation) {
			i.UID, i.Annotations = "u", map[string]string{v1alpha1.AdmittedAnnotation: "u"}
		}), Problem, `operation "reconcile" of Installation n/shop has waited`},
		{"a request of this moment", "controllers", installation(func(i *v1alpha1.Installation) {
			i.Annotations = map[string]string{v1alpha1.OperationAnnotation: "reconcile"}
			at := ago(time.Second)
			i.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &at}}
		}), OK, "nothing waits"},
		{"a job that no Execution takes", "controllers", untaken(time.Hour), Problem, "the job of Execution n/shop has waited since 2026-01-01T11:00:00Z"},
		{"a job of this moment", "controllers", untaken(time.Second), OK, "nothing waits"},
		{"an item that no deployer picks up", "deployers", item(time.Hour, ""), Problem, "items of type t wait to be picked up: 1"},
		{"an item that was just asked for", "deployers", item(time.Second, ""), OK, ""},
		{"an item in the queue of a deployer in the same process", "deployers", queued(time.Hour), Problem, "items of type t wait to be picked up: 1, such as n/x"},
		{"an item that came into the queue just now", "deployers", queued(time.Second), OK, ""},
		{"an item in work", "deployers", item(time.Hour, "Progressing"), OK, ""},
		{"a cluster that answers", "targets", Facts{Targets: map[string]error{"n/a": nil}}, OK, "all clusters answer (1)"},
		{"a cluster that needs a token which was not requested", "targets", Facts{Unasked: map[string]error{"n/a": errors.New("no token")}}, Warning, "Target n/a was not looked at: no token"},
		{"a cluster that does not", "targets", Facts{Targets: map[string]error{"n/a": errors.New("no route")}}, Problem, "Target n/a: no route"},
		{"a deletion that hangs", "deletions", installation(func(i *v1alpha1.Installation) {
			at := ago(time.Hour)
			i.DeletionTimestamp, i.Finalizers = &at, []string{"f"}
		}), Warning, "with the finalizers [f]"},
		{"an item whose Execution does not exist any more", "deletions", func() Facts {
			facts, at := item(time.Hour, "Deleting"), ago(time.Hour)
			facts.Snapshot.DeployItems[0].DeletionTimestamp = &at
			return facts
		}(), Warning, "DeployItem n/x is being deleted since 2026-01-01T11:00:00Z, with the finalizers []: its owner does not exist any more"},
		{"an Execution whose Installation does not exist any more", "deletions", func() Facts {
			at := ago(time.Hour)
			return Facts{Snapshot: inspect.Snapshot{Executions: []*v1alpha1.Execution{{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "x", DeletionTimestamp: &at, Finalizers: []string{"f"}}}}}}
		}(), Warning, "Execution n/x is being deleted"},
		{"a deletion under way", "deletions", installation(func(i *v1alpha1.Installation) {
			at := ago(time.Minute)
			i.DeletionTimestamp = &at
		}), OK, "none is stuck"},
		{"a job that failed", "jobs", installation(func(i *v1alpha1.Installation) {
			i.Status.InstallationPhase, i.Status.JobID, i.Status.JobIDFinished = "Failed", "j", "j"
			i.Status.LastError = &v1alpha1.Error{Message: "no such chart"}
		}), Warning, "no such chart"},
		{"a part without a whole", "jobs", installation(func(i *v1alpha1.Installation) {
			i.Labels = map[string]string{v1alpha1.EncompassedByLabel: "gone"}
		}), Warning, "does not exist"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			test.facts.Now = now
			for _, finding := range Judge(test.facts) {
				if finding.Check != test.check {
					continue
				}
				if finding.Severity != test.severity || !strings.Contains(finding.Message, test.message) {
					t.Errorf("%+v", finding)
				}
				if (finding.Remedy == "") != (finding.Severity == OK) {
					t.Errorf("what is to be done? %+v", finding)
				}
				return
			}
			t.Error("the check is missing")
		})
	}
}
