package lifecycle

import (
	"errors"
	"testing"

	"go.landscaper.dev/internal/controller/shootflux/gardener"
)

func TestDecide(t *testing.T) {
	shoot, failed := &gardener.Shoot{}, &gardener.Shoot{}
	failed.Status.LastOperation = &gardener.LastOperation{State: gardener.Failed}
	foreign := extension(func(e *gardener.Extension) { e.Spec.Type = "other" })
	absence, unread := errors.New("there is no shoot"), errors.New("no answer")
	for _, test := range []struct {
		reason string
		s      snapshot
		want   step
		cause  error
	}{
		{"a new Extension", snapshot{e: extension(never), kind: gardener.Create, shoot: shoot}, begin, nil},
		{"a change", snapshot{e: extension(), kind: gardener.Reconcile, shoot: shoot}, prepare, nil},
		{"a shoot that comes from another seed", snapshot{e: extension(annotated(gardener.OperationAnnotation, gardener.OperationRestore)), kind: gardener.Restore, shoot: shoot}, begin, nil},
		{"a shoot that goes to another seed", snapshot{e: extension(), kind: gardener.Migrate, shoot: shoot}, begin, nil},
		{"a deletion", snapshot{e: extension(deleted), kind: gardener.Delete, shoot: shoot}, begin, nil},
		{"an Extension of another controller", snapshot{e: foreign, kind: gardener.Create, shoot: shoot}, rest, nil},
		{"one of a shoot that is on another seed now", snapshot{e: extension(last(gardener.Migrate, gardener.Succeeded)), kind: gardener.Reconcile, shoot: shoot}, rest, nil},
		{"a shoot that Gardener has given up: its next operation triggers a reconcile", snapshot{e: extension(), kind: gardener.Reconcile, shoot: failed}, rest, nil},
		{"the deletion of such a shoot begins anew, too", snapshot{e: extension(deleted), kind: gardener.Delete, shoot: failed}, rest, nil},
		{"there is nothing to bring anything to", snapshot{e: extension(), kind: gardener.Reconcile, absence: absence}, fail, absence},
		{"a deletion needs no shoot", snapshot{e: extension(deleted), kind: gardener.Delete, absence: absence}, begin, nil},
		{"nor does a migration", snapshot{e: extension(), kind: gardener.Migrate, absence: absence}, begin, nil},
		{"a shoot that cannot be read may exist: it is not left behind", snapshot{e: extension(deleted), kind: gardener.Delete, unread: unread}, fail, unread},
	} {
		if got := decide(test.s); got.do != test.want || !errors.Is(got.cause, test.cause) || !got.wake.Recorded() {
			t.Errorf("%s: %s, %v, next by %s; want %s", test.reason, got.do, got.cause, got.wake, test.want)
		}
	}
}
