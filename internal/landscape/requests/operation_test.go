package requests

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/api/v1alpha1"
)

func TestRemarks(t *testing.T) {
	tests := []struct {
		reason    string
		pending   string
		running   bool
		operation v1alpha1.Operation
		want      string
	}{
		{"nothing to remark", "", false, "reconcile", ""},
		{"another operation is lost", "interrupt", false, "reconcile", `Warning: operation "interrupt" was pending and is replaced`},
		{"an operation that is already pending", "reconcile", false, "reconcile", `Warning: operation "reconcile" was already pending`},
		{"the new job has to wait", "", true, "reconcile", "Note: a job is running; the new one starts when it has ended"},
		{"nothing to interrupt", "", false, "interrupt", "Note: no job is running"},
		{"something to interrupt", "", true, "interrupt", ""},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			before := &v1alpha1.Installation{}
			if test.pending != "" {
				before.Annotations = map[string]string{v1alpha1.OperationAnnotation: test.pending}
			}
			if test.running {
				before.Status.JobID = "j"
			}
			if got := strings.Join(Remarks(before, test.operation), "\n"); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestArrived(t *testing.T) {
	state := func(operation, job string) *v1alpha1.Installation {
		return &v1alpha1.Installation{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{v1alpha1.OperationAnnotation: operation}},
			Status:     v1alpha1.InstallationStatus{JobID: job},
		}
	}
	taken := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{UID: "u", Annotations: map[string]string{v1alpha1.AdmittedAnnotation: "u"}}}
	tests := []struct {
		reason          string
		before, present *v1alpha1.Installation
		want            bool
	}{
		{"the first attempt was lost on its way", state("", "1"), state("", "1"), false},
		{"only the answer was lost", state("", "1"), state("reconcile", "1"), true},
		{"a controller has even begun", state("", "1"), state("", "2"), true},
		{"a controller has picked up the first job", state("", ""), taken, true},
		{"a controller has picked up the first job before", taken, taken, false},
		{"the annotation was there before, so nothing is known", state("reconcile", "1"), state("reconcile", "1"), false},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := arrived(test.before, test.present, v1alpha1.ReconcileOperation); got != test.want {
				t.Errorf("%t", got)
			}
		})
	}
}
