package execution

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

func TestDeadlines(t *testing.T) {
	at := func(seconds int64) *metav1.Time {
		moment := metav1.NewTime(time.Unix(seconds, 0))
		return &moment
	}
	begun := func(seconds int64) *v1alpha1.TransitionTimes { return &v1alpha1.TransitionTimes{InitTime: at(seconds)} }
	const never = -1
	tests := []struct {
		reason  string
		status  v1alpha1.DeployItemStatus
		timeout string
		pickup  time.Duration
		want    int64
		err     string
	}{
		{"no deployer has picked up a first job", v1alpha1.DeployItemStatus{JobID: "a", JobIDGenerationTime: at(100)}, "", time.Minute, 160, "no deployer has reconciled"},
		{"no deployer has picked up a job after an earlier one", v1alpha1.DeployItemStatus{JobID: "b", JobIDFinished: "a", JobIDGenerationTime: at(100), LastReconcileTime: at(50), TransitionTimes: begun(50)}, "", time.Minute, 160, "no deployer has reconciled"},
		{"without a limit, a deployer may pick up the job at any time", v1alpha1.DeployItemStatus{JobID: "a", JobIDGenerationTime: at(100)}, "30s", 0, never, ""},
		{"a deployer has picked up the job in the second of the trigger", v1alpha1.DeployItemStatus{JobID: "a", JobIDGenerationTime: at(100), LastReconcileTime: at(100), TransitionTimes: begun(100)}, "30s", time.Minute, 190, "deployer helm picked this deployitem up and has not ended the job within 30s"},
		{"an item without a timeout has the default one", v1alpha1.DeployItemStatus{JobID: "a", JobIDGenerationTime: at(100), LastReconcileTime: at(100), TransitionTimes: begun(100)}, "", 0, 760, "within 10m0s"},
		{"attempts go on, but the job began long ago", v1alpha1.DeployItemStatus{JobID: "a", JobIDGenerationTime: at(100), LastReconcileTime: at(500), TransitionTimes: begun(120)}, "30s", time.Minute, 210, "within 30s"},
		{"a deployer that does not say when it began", v1alpha1.DeployItemStatus{JobID: "a", JobIDGenerationTime: at(100), LastReconcileTime: at(110)}, "30s", time.Minute, 200, "within 30s"},
		{"the recorded beginning is that of the job before", v1alpha1.DeployItemStatus{JobID: "b", JobIDGenerationTime: at(100), LastReconcileTime: at(110), TransitionTimes: begun(50)}, "30s", time.Minute, 200, "within 30s"},
		{"a timeout of none is no limit", v1alpha1.DeployItemStatus{JobID: "a", JobIDGenerationTime: at(100), LastReconcileTime: at(100), TransitionTimes: begun(100)}, "none", time.Minute, never, ""},
		{"a limit that cannot be read does not count", v1alpha1.DeployItemStatus{JobID: "a", JobIDGenerationTime: at(100), LastReconcileTime: at(100), TransitionTimes: begun(100)}, "soon", 0, 760, "within 10m0s"},
		{"finished", v1alpha1.DeployItemStatus{JobID: "a", JobIDFinished: "a", JobIDGenerationTime: at(100)}, "", time.Minute, never, ""},
		{"a job that a tool has assigned", v1alpha1.DeployItemStatus{JobID: "a"}, "", time.Minute, never, ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			item := &v1alpha1.DeployItem{Status: test.status}
			item.Status.Deployer.Name = "helm"
			if test.timeout != "" {
				item.Spec.Timeout = &v1alpha1.Duration{}
				if err := item.Spec.Timeout.UnmarshalJSON([]byte(`"` + test.timeout + `"`)); err != nil {
					t.Fatal(err)
				}
			}
			deadline, waiting := deadlineOf(item, test.pickup)
			if waiting != (test.want != never) || waiting && !deadline.Equal(time.Unix(test.want, 0)) {
				t.Fatalf("waiting %t until %s", waiting, deadline)
			}
			if !waiting {
				return
			}
			if err := lateError(item, snapshot{pickup: test.pickup}); !strings.Contains(err.Error(), test.err) || job.OutcomeOf(err) != job.Terminal {
				t.Error(err)
			}
		})
	}
}
