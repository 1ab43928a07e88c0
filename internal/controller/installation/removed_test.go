package installation

import (
	"context"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/controller/installation/testbuilders"
)

// tear removes an object although a controller works on it, as an operator can who removes its
// finalizers.
func (b *bench) tear(t *testing.T, object client.Object) {
	t.Helper()
	object.SetFinalizers(nil)
	if err := b.api.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	if err := b.api.Delete(t.Context(), object); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
}

// countingReader counts the reads from the API server.
type countingReader struct {
	client.Reader
	reads int
}

func (c *countingReader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	c.reads++
	return c.Reader.Get(ctx, key, object, options...)
}

// TestExecutionIsRemoved: another client removes an Execution by force while its job runs. The
// job ends with the cause and the next step, and the next job creates the Execution anew.
func TestExecutionIsRemoved(t *testing.T) {
	for _, test := range []struct {
		name string
		// also is what the user does after that.
		also  func(*testing.T, *bench)
		reads int
	}{
		{"the Execution is removed", func(*testing.T, *bench) {}, 1},
		{"the Execution is removed, and the job is interrupted", func(t *testing.T, b *bench) { b.request(t, v1alpha1.InterruptOperation) }, 1},
		{"the Execution is removed, and the job is aborted", func(t *testing.T, b *bench) { b.request(t, v1alpha1.AbortOperation) }, 1},
		{"the Execution is removed, and a user creates another one", func(t *testing.T, b *bench) {
			other := &v1alpha1.Execution{}
			other.Namespace, other.Name = shop.Namespace, shop.Name
			if err := b.api.Create(t.Context(), other); err != nil {
				t.Fatal(err)
			}
		}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, installed(t, "web")...)
			reader := &countingReader{Reader: b.api}
			b.Reader = reader
			b.reconcile(t)
			b.reconcile(t)
			b.tear(t, b.execution(t))
			test.also(t, b)
			reader.reads = 0
			b.Now = func() time.Time { return testbuilders.Noon.Add(time.Minute) }
			for range 3 {
				b.reconcile(t)
			}
			s := b.installation(t).Status
			if s.InstallationPhase != "Failed" || s.JobIDFinished != "job-1" {
				t.Fatalf("the job does not end: %+v", s)
			}
			const want = "Execution shop was deleted by another client during the job: start another job with the annotation landscaper.gardener.cloud/operation: reconcile"
			if s.LastError.Message != want {
				t.Errorf("%q, want %q", s.LastError.Message, want)
			}
			if reader.reads != test.reads {
				t.Errorf("%d reads from the API server, want %d", reader.reads, test.reads)
			}
		})
	}
}

// TestJobAfterExecutionIsRemoved: the next job does what the one before could not.
func TestJobAfterExecutionIsRemoved(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	b.reconcile(t)
	b.tear(t, b.execution(t))
	b.Now = func() time.Time { return testbuilders.Noon.Add(time.Minute) }
	b.reconcile(t)
	b.request(t, v1alpha1.ReconcileOperation)
	if got := b.reconcile(t); !strings.Contains(got, "create Execution") {
		t.Fatalf("the second job begins with: %s", got)
	}
	b.finish(t, "Succeeded", nil)
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" || s.JobIDFinished != "job-2" {
		t.Errorf("%+v", s)
	}
}

// TestCacheWithoutExecution: a job waits for a cache that does not show a new Execution yet. The
// API server is asked after a second, and not by each reconcile.
func TestCacheWithoutExecution(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	reader := &countingReader{Reader: b.api}
	b.Reader = reader
	b.reconcile(t)
	b.Client = hiding{b.api}
	reader.reads = 0
	for range 5 {
		b.reconcile(t)
	}
	if reader.reads != 0 {
		t.Errorf("%d reads from the API server within a second", reader.reads)
	}
	b.Now = func() time.Time { return testbuilders.Noon.Add(2 * time.Second) }
	for range 5 {
		b.reconcile(t)
	}
	if s := b.installation(t).Status; reader.reads != 1 || s.InstallationPhase != "Progressing" {
		t.Errorf("%d reads from the API server, %+v", reader.reads, s)
	}
	b.Client = b.api
	b.finish(t, "Succeeded", nil)
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" {
		t.Errorf("%+v", s)
	}
}

// hiding is a cache that shows no Executions.
type hiding struct{ client.Client }

func (h hiding) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, is := object.(*v1alpha1.Execution); is {
		key.Name = "hidden"
	}
	return h.Client.Get(ctx, key, object, options...)
}

// TestSubIsRemoved: another client removes a subinstallation by force while its job runs.
func TestSubIsRemoved(t *testing.T) {
	b := newBench(t, nested(t)...)
	b.reconcile(t)
	b.run(t, b.sub(t, "b"))
	gone := b.sub(t, "b")
	b.tear(t, gone)
	b.run(t, b.sub(t, "a"))
	b.Now = func() time.Time { return testbuilders.Noon.Add(time.Minute) }
	b.reconcile(t)
	s := b.installation(t).Status
	if s.InstallationPhase != "Failed" {
		t.Fatalf("the job does not end: %+v", s)
	}
	want := "Installation " + gone.Name + " was deleted by another client during the job: start another job with the annotation landscaper.gardener.cloud/operation: reconcile"
	if s.LastError.Message != want {
		t.Errorf("%q, want %q", s.LastError.Message, want)
	}
}

// TestExecutionIsDeleted: another client has deleted an Execution, which waits for a job to be
// deleted. The next job deletes it, creates another one, and continues.
func TestExecutionIsDeleted(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	b.reconcile(t)
	b.finish(t, "Succeeded", nil)
	b.reconcile(t)
	if err := b.api.Delete(t.Context(), b.execution(t)); err != nil {
		t.Fatal(err)
	}
	b.request(t, v1alpha1.ReconcileOperation)
	b.reconcile(t)
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "CleanupOrphaned" {
		t.Fatalf("the Execution is not deleted: %+v", s)
	}
	b.tear(t, b.execution(t))
	if got := b.reconcile(t); !strings.Contains(got, "create Execution") {
		t.Errorf("after that: %s", got)
	}
	b.finish(t, "Succeeded", nil)
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Succeeded" || s.JobIDFinished != "job-2" {
		t.Errorf("%+v", s)
	}
}

// TestExecutionCannotBeDeleted: what keeps the items of a deleted Execution ends the job.
func TestExecutionCannotBeDeleted(t *testing.T) {
	b := newBench(t, installed(t, "web")...)
	b.reconcile(t)
	b.finish(t, "Succeeded", nil)
	b.reconcile(t)
	if err := b.api.Delete(t.Context(), b.execution(t)); err != nil {
		t.Fatal(err)
	}
	b.request(t, v1alpha1.ReconcileOperation)
	b.reconcile(t)
	b.finish(t, "DeleteFailed", &v1alpha1.Error{Message: "connection refused; at item web"})
	b.reconcile(t)
	if s := b.installation(t).Status; s.InstallationPhase != "Failed" || s.LastError.Message != "connection refused; at item web" {
		t.Errorf("%+v, %+v", s, s.LastError)
	}
}
