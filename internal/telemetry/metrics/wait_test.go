package metrics

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
	"go.landscaper.dev/internal/runtime/job/reasons"
	"go.landscaper.dev/internal/runtime/reporter"
)

func TestWaitsFor(t *testing.T) {
	inst, exec, item := &v1alpha1.Installation{}, &v1alpha1.Execution{}, &v1alpha1.DeployItem{}
	wait := func(reason reasons.Reason) error { return job.NewWaiting("op", reason, "m") }
	tests := []struct {
		reason  string
		subject *reporter.Subject
		phase   string
		err     error
		want    Reason
	}{
		{"an Installation after its siblings", reporter.Installation(inst), "Init", wait("AllPredecessorsFinished"), Sibling},
		{"siblings that have to be deleted before", reporter.Installation(inst), "InitDelete", wait("SiblingImport"), Sibling},
		{"an import that a sibling exports", reporter.Installation(inst), "Init", wait("ImportsSatisfied"), Import},
		{"the default Context", reporter.Installation(inst), "Init", wait("CalculateContext"), Context},
		{"a wait that is new to us", reporter.Installation(inst), "Init", wait("Whatever"), Other},
		{"a reason of another kind", reporter.Installation(inst), "Init", wait("NoTargetFound"), Other},
		{"a registry that fails", reporter.Installation(inst), "Init", errors.New("no answer"), Retry},
		{"rendering is work", reporter.Installation(inst), "Init", nil, Working},
		{"an Installation with all objects below it", reporter.Installation(inst), "Progressing", nil, Children},
		{"an Installation with all objects below it in a deletion", reporter.Installation(inst), "Deleting", nil, Children},
		{"collecting exports is work", reporter.Installation(inst), "Completing", nil, Working},
		{"an Execution with its items", reporter.Execution(exec), "Progressing", nil, Children},
		{"an item that no deployer has picked up", reporter.DeployItem(item), "", nil, Deployer},
		{"an item that no deployer has picked up since its last job", reporter.DeployItem(item), "Failed", errors.New("of the last job"), Deployer},
		{"no Target", reporter.DeployItem(item), "Progressing", wait("NoTargetFound"), Target},
		{"no Context of an item", reporter.DeployItem(item), "Progressing", wait("GetLandscaperContext"), Context},
		{"no Secret of the Target", reporter.DeployItem(item), "Progressing", wait("SecretNotFound"), Target},
		{"a cluster that refuses", reporter.DeployItem(item), "Progressing", job.NewError("op", reasons.ConnectionRefused, "m"), Target},
		{"another error", reporter.DeployItem(item), "Progressing", errors.New("m"), Retry},
		{"an item at work", reporter.DeployItem(item), "Progressing", nil, Working},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			status := test.subject.Status
			*status.JobID, *status.Phase = "a", test.phase
			*status.LastError = job.StatusError(test.err, nil, metav1.NewTime(time.Unix(1, 0)))
			if got := waitsFor(kindOf(test.subject), status); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestReadiness: a wait for objects on the cluster is progress, so that only the
// conditions show it.
func TestReadiness(t *testing.T) {
	item := &v1alpha1.DeployItem{}
	item.Status.JobID, item.Status.Phase = "a", v1alpha1.DeployItemPhases.Progressing
	job.Summarize(&item.Status.Conditions, job.Summary{Phase: "Progressing", Err: job.NewWaiting("reconcile", "Waiting", "m")}, metav1.Now())
	if got := waitsFor("DeployItem", reporter.DeployItem(item).Status); got != Readiness {
		t.Errorf("got %q", got)
	}
}
