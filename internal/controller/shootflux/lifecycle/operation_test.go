package lifecycle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// extension makes an Extension that has succeeded at noon, and changes it.
func extension(changes ...func(*gardener.Extension)) *gardener.Extension {
	e := &gardener.Extension{Spec: gardener.ExtensionSpec{Type: Type}}
	e.Generation, e.Status.ObservedGeneration = 1, 1
	e.Finalizers = []string{Finalizer}
	e.Status.LastOperation = &gardener.LastOperation{Type: gardener.Reconcile, State: gardener.Succeeded, LastUpdateTime: metav1.NewTime(noon)}
	for _, change := range changes {
		change(e)
	}
	return e
}

func annotated(name, value string) func(*gardener.Extension) {
	return func(e *gardener.Extension) { metav1.SetMetaDataAnnotation(&e.ObjectMeta, name, value) }
}

func requested(value string) func(*gardener.Extension) {
	return annotated(gardener.OperationAnnotation, value)
}

func last(kind gardener.OperationType, state gardener.OperationState) func(*gardener.Extension) {
	return func(e *gardener.Extension) { e.Status.LastOperation.Type, e.Status.LastOperation.State = kind, state }
}

func deleted(e *gardener.Extension) { e.DeletionTimestamp = &metav1.Time{Time: noon} }

func never(e *gardener.Extension) { e.Status.LastOperation = nil }

func otherSpec(e *gardener.Extension) { e.Generation = 2 }

func classed(class string) func(*gardener.Extension) {
	return func(e *gardener.Extension) { e.Spec.Class = &class }
}

func TestTriggersAtStart(t *testing.T) {
	for _, test := range []struct {
		name   string
		e      *gardener.Extension
		ignore bool
		want   bool
		reason string
	}{
		{"done", extension(), false, false, "a restart must not redo what is done"},
		{"reconcile", extension(requested("reconcile")), false, true, "gardenlet waits"},
		{"migrate", extension(requested("migrate")), false, true, "gardenlet waits"},
		{"restore", extension(requested("restore")), false, true, "gardenlet waits"},
		{"wait for state", extension(requested("wait-for-state")), false, false, "it is not for us"},
		{"wait for state, never", extension(requested("wait-for-state"), never), false, false, "its state is not there yet"},
		{"wait for state, deleted", extension(requested("wait-for-state"), deleted), false, true, "gardenlet does not write its state any more"},
		{"deleted", extension(deleted), false, true, "the deletion waits for our finalizer"},
		{"never", extension(never), false, true, "nothing was done yet"},
		{"processing", extension(last(gardener.Reconcile, gardener.Processing)), false, true, "we were ended in the middle"},
		{"error", extension(last(gardener.Reconcile, gardener.Error)), false, true, "it is tried again"},
		{"asked while we ended", extension(annotated(gardener.TimestampAnnotation, noon.Add(time.Minute).Format(time.RFC3339Nano))), false, true, "the request was removed, and then we were ended"},
		{"answered", extension(annotated(gardener.TimestampAnnotation, noon.Add(time.Millisecond).Format(time.RFC3339Nano))), false, false, "a status has whole seconds"},
		{"migrated", extension(last(gardener.Migrate, gardener.Succeeded), annotated(gardener.TimestampAnnotation, noon.Add(time.Hour).Format(time.RFC3339Nano))), false, false, "the shoot is elsewhere"},
		{"new spec", extension(otherSpec), false, false, "gardenlet asks when it has written everything"},
		{"new spec without annotation", extension(otherSpec), true, true, "there will be no request"},
		{"other type", extension(requested("reconcile"), func(e *gardener.Extension) { e.Spec.Type = "shoot-dns" }), false, false, "another extension looks after it"},
		{"class shoot", extension(requested("reconcile"), classed("shoot")), false, true, "it is the default"},
		{"class seed", extension(requested("reconcile"), classed("seed")), false, false, "there is no shoot"},
		{"class garden", extension(requested("reconcile"), classed("garden")), false, false, "there is no shoot"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := triggersAtStart(test.e, test.ignore); got != test.want {
				t.Errorf("%v, want %v: %s", got, test.want, test.reason)
			}
		})
	}
}

func TestTriggers(t *testing.T) {
	for _, test := range []struct {
		name          string
		before, after *gardener.Extension
		ignore        bool
		want          bool
		reason        string
	}{
		{"nothing", extension(), extension(), false, false, "nothing has changed"},
		{"asked", extension(), extension(requested("reconcile")), false, true, "gardenlet waits"},
		{"asked, our own status", extension(requested("restore")), extension(requested("restore"), last(gardener.Restore, gardener.Processing)), false, false, "we are at it"},
		{"asked again", extension(requested("reconcile"), annotated(gardener.TimestampAnnotation, "1")), extension(requested("reconcile"), annotated(gardener.TimestampAnnotation, "2")), false, true, "gardenlet waits for a newer answer"},
		{"new spec", extension(), extension(otherSpec), false, false, "the request follows"},
		{"new spec without annotation", extension(), extension(otherSpec), true, true, "no request follows"},
		{"asked without annotation", extension(), extension(requested("reconcile")), true, false, "the spec decides"},
		{"moved without annotation", extension(), extension(requested("migrate")), true, true, "the spec does not show it"},
		{"moving without annotation", extension(requested("migrate")), extension(requested("migrate"), last(gardener.Migrate, gardener.Processing)), true, false, "it is our own status"},
		{"deleted", extension(), extension(deleted), false, true, "it begins to go"},
		{"our own status", extension(deleted), extension(deleted, last(gardener.Delete, gardener.Processing)), false, false, "we have written it"},
		{"other type", extension(), extension(requested("reconcile"), func(e *gardener.Extension) { e.Spec.Type = "x" }), false, false, "another extension looks after it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := triggersReconcile(test.before, test.after, test.ignore); got != test.want {
				t.Errorf("%v, want %v: %s", got, test.want, test.reason)
			}
		})
	}
}

func TestOperation(t *testing.T) {
	for _, test := range []struct {
		name   string
		e      *gardener.Extension
		want   gardener.OperationType
		left   bool
		reason string
	}{
		{"new", extension(never), gardener.Create, false, "nothing was done yet"},
		{"a repeated operation", extension(), gardener.Reconcile, false, "it was done before"},
		{"create goes on", extension(last(gardener.Create, gardener.Error)), gardener.Create, false, "gardenlet shows it as a creation"},
		{"restore goes on", extension(last(gardener.Restore, gardener.Processing)), gardener.Restore, false, "it was not restored yet"},
		{"migrate goes on", extension(last(gardener.Migrate, gardener.Error)), gardener.Migrate, false, "going back would have two seeds at work"},
		{"reconcile failed", extension(last(gardener.Reconcile, gardener.Error)), gardener.Reconcile, false, "it is tried again"},
		{"delete failed, object back", extension(last(gardener.Delete, gardener.Error)), gardener.Reconcile, false, "it is not being deleted"},
		{"deleted", extension(deleted), gardener.Delete, false, "it goes"},
		{"deleted and reconciled", extension(deleted, requested("reconcile")), gardener.Delete, false, "it goes"},
		{"deleted and restored", extension(deleted, requested("restore")), gardener.Delete, false, "it goes"},
		{"deleted and migrated", extension(deleted, requested("migrate")), gardener.Migrate, false, "nothing in the shoot may be deleted"},
		{"deleted without our finalizer", extension(deleted, func(e *gardener.Extension) { e.Finalizers = []string{"other"} }), gardener.Delete, true, "we have nothing to do with it"},
		{"migrate", extension(requested("migrate")), gardener.Migrate, false, "the shoot moves"},
		{"restore", extension(requested("restore"), never), gardener.Restore, false, "the shoot has moved"},
		{"state not there", extension(requested("wait-for-state"), never), gardener.Create, true, "it would be bootstrapped a second time"},
		{"migrated", extension(last(gardener.Migrate, gardener.Succeeded)), gardener.Reconcile, true, "another seed works"},
		{"migrated and deleted", extension(last(gardener.Migrate, gardener.Succeeded), deleted), gardener.Delete, true, "the shoot must keep everything"},
		{"migrated and back", extension(last(gardener.Migrate, gardener.Succeeded), requested("restore")), gardener.Restore, false, "the shoot has come back"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := operation(test.e); got != test.want {
				t.Errorf("operation %s, want %s: %s", got, test.want, test.reason)
			}
			if got := left(test.e, operation(test.e)); got != test.left {
				t.Errorf("left %v, want %v: %s", got, test.left, test.reason)
			}
		})
	}
}
