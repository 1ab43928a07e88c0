package installation

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
	"go.landscaper.dev/internal/runtime/job/reasons"
)

// TestEvents: which events there are about jobs and requests, besides the ends of jobs.
func TestEvents(t *testing.T) {
	installs := func(t *testing.T) []client.Object { t.Helper(); return installed(t, "web") }
	changed := func(t *testing.T, b *bench) {
		t.Helper()
		inst := b.installation(t)
		inst.Annotations = map[string]string{v1alpha1.ReconcileIfChangedAnnotation: "true"}
		// The API server in memory does not count generations.
		inst.Generation = 2
		if err := b.api.Update(t.Context(), inst); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		reason  string
		objects func(*testing.T) []client.Object
		then    func(*testing.T, *bench)
		want    []string
	}{
		{"a job that was requested has no event", installs, again, nil},
		{"a job because of the specification", installs, changed, []string{"Normal JobStarted job job-2 begins because the specification is new or has changed"}},
		{"a job because of the schedule", installs, func(t *testing.T, b *bench) {
			t.Helper()
			inst := b.installation(t)
			testbuilders.Alter(inst, testbuilders.Every("", "1h", 0))
			if err := b.api.Update(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			b.Now = func() time.Time { return testbuilders.Noon.Add(time.Hour) }
		}, []string{"Normal JobStarted job job-2 begins because it is time for it by spec.automaticReconcile"}},
		{"a job because of changed imports", installs, func(t *testing.T, b *bench) {
			t.Helper()
			b.Triggers.OnImportChange = true
			retarget(t, b)
		}, []string{"Normal JobStarted job job-2 begins because something that is imported has changed"}},
		{"a job that another Installation requests", followed, nil, []string{"Normal JobRequested a job is requested because Installation shop has exported other values than the last job has imported"}},
		{"a request that has no effect", installs, func(t *testing.T, b *bench) {
			t.Helper()
			inst := b.installation(t)
			inst.OwnerReferences = []metav1.OwnerReference{testbuilders.Owner("Installation", "parent", "of-parent")}
			inst.Annotations = map[string]string{v1alpha1.OperationAnnotation: "force-reconcile"}
			if err := b.api.Update(t.Context(), inst); err != nil {
				t.Fatal(err)
			}
			parent := inst.DeepCopy()
			parent.Name, parent.ResourceVersion, parent.OwnerReferences, parent.Annotations = "parent", "", nil, nil
			if err := b.api.Create(t.Context(), parent); err != nil {
				t.Fatal(err)
			}
		}, []string{"Warning RequestIgnored operation force-reconcile has no effect on a subinstallation: ask the root of the tree for a job"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			b := newBench(t, test.objects(t)...)
			b.settle(t)
			reported := b.reported()
			if test.then != nil {
				test.then(t, b)
				b.settle(t)
				reported = b.reported()
			}
			reported = slices.DeleteFunc(reported, func(event string) bool {
				return !slices.ContainsFunc([]reasons.Reason{reasons.JobStarted, reasons.JobRequested, reasons.RequestIgnored}, func(reason reasons.Reason) bool { return strings.Contains(event, string(reason)) })
			})
			if !slices.Equal(reported, test.want) {
				t.Errorf("reported is %q, want %q", reported, test.want)
			}
		})
	}
}
