package history

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/landscape/inspect"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TestFind: an ID is named by as much of it as makes it the only one.
func TestFind(t *testing.T) {
	jobs := []Job{{JobRecord: v1alpha1.JobRecord{JobID: "abcd-1"}}, {JobRecord: v1alpha1.JobRecord{JobID: "abcd-12"}}, {JobRecord: v1alpha1.JobRecord{JobID: "j"}}, {JobRecord: v1alpha1.JobRecord{JobID: "efgh-1"}}}
	for _, test := range []struct{ reason, id, want string }{
		{"the whole ID", "abcd-12", "abcd-12"},
		{"the whole ID with which another one begins", "abcd-1", "abcd-1"},
		{"a beginning", "efgh", "efgh-1"},
		{"a beginning of two", "abcd", ""},
		{"so little says nothing", "efg", ""},
		{"a short ID", "j", "j"},
		{"nothing", "", ""},
		{"another one", "zzzz", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			found, err := Find(jobs, test.id)
			if (err == nil) != (test.want != "") || found != nil && found.JobID != test.want {
				t.Errorf("%+v, %v", found, err)
			}
		})
	}
}

// TestJobsOf: the running job has the start of the status, and an event about the start of a job says more
// than its trigger.
func TestJobsOf(t *testing.T) {
	at := func(second int64) *metav1.Time {
		moment := metav1.Unix(second, 0)
		return &moment
	}
	node := &inspect.Node{
		Kind: inspect.KindInstallation, Name: "root", JobID: "2", StartTime: at(200),
		Installation: &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Name: "root", UID: "u"}, Status: v1alpha1.InstallationStatus{
			History: []v1alpha1.JobRecord{{JobID: "2"}, {JobID: "1", Start: at(100), Phase: "Succeeded"}},
		}},
	}
	events := []*corev1.Event{{
		InvolvedObject: corev1.ObjectReference{UID: types.UID("u")}, Reason: string(reasons.JobStarted), Message: "job 1 begins because of this",
		LastTimestamp: metav1.NewTime(at(100).Add(time.Second)),
	}}
	jobs := JobsOf(node, events)
	if len(jobs) != 2 || !jobs[0].Start.Equal(at(200)) || jobs[0].Cause != "" || jobs[1].Cause != "job 1 begins because of this" {
		t.Errorf("%+v", jobs)
	}
	if node.Installation.Status.History[0].Start != nil {
		t.Error("what was read is changed")
	}
}
