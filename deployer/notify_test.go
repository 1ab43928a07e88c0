package deployer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// TestNewsOfAWait shows that the status follows what is waited for, at a rate that does not grow
// with the number of changes, and that the last change is reported, too.
func TestNewsOfAWait(t *testing.T) {
	state := 0
	s := onStage(t, &script{reconcile: func(context.Context, *Item) (Result, error) {
		return WaitFor(fmt.Sprintf("Deployment a/b to become ready (%d of 1000)", state)), nil
	}}, newItem())
	writes, version := 0, ""
	begun := s.clock
	look := func() ctrl.Result {
		result := s.look()
		if now := s.item().ResourceVersion; now != version {
			writes, version = writes+1, now
		}
		return result
	}
	var result ctrl.Result
	for state = range 1000 {
		s.reconciler.requeue(key)
		result = look()
		s.clock = s.clock.Add(50 * time.Millisecond)
	}
	if took := s.clock.Sub(begun); writes > 15 || writes < 8 {
		t.Errorf("%d writes in %s", writes, took)
	}
	if result.RequeueAfter <= 0 || result.RequeueAfter > maxReportInterval {
		t.Fatalf("the last change waits for %s", result.RequeueAfter)
	}
	s.clock = s.clock.Add(result.RequeueAfter)
	if look(); !strings.Contains(s.item().Status.Conditions[0].Message, "999 of 1000") {
		t.Errorf("the status says %q", s.item().Status.Conditions[0].Message)
	}
	before := writes
	s.reconciler.requeue(key)
	if look(); writes != before {
		t.Error("an unchanged wait is written")
	}
	// More than a change of messages is written at once.
	state++
	s.reconciler.requeue(key)
	look()
	s.script.reconcile = func(context.Context, *Item) (Result, error) { return Done(), nil }
	s.reconciler.requeue(key)
	look()
	s.expect("Succeeded", true, "")
}

// TestWarn reports warnings once in a job, and in each job again.
func TestWarn(t *testing.T) {
	attempts := 0
	s := onStage(t, &script{reconcile: func(_ context.Context, item *Item) (Result, error) {
		attempts++
		item.Warn("Odd", "this is odd", "and this")
		item.Warn("Old", fmt.Sprintf("attempt %d", attempts))
		item.Warn("Nothing")
		return WaitFor("the end"), nil
	}}, newItem())
	for range 3 {
		s.reconciler.requeue(key)
		s.look()
	}
	if got := strings.Join(s.emitted(), "\n"); attempts != 3 || got != "Warning Odd this is odd; and this\nWarning Old attempt 1" {
		t.Errorf("%d attempts, events %q", attempts, got)
	}
	item := s.item()
	AssignJob(item, s.clock)
	if err := s.reconciler.client.Status().Update(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	s.look()
	if emitted := s.emitted(); len(emitted) != 2 {
		t.Errorf("the next job emitted %q", emitted)
	}
}

// TestWarningsAreTexts: what an event says is cut between letters, not in one: no API
// server stores half of one.
func TestWarningsAreTexts(t *testing.T) {
	s := onStage(t, &script{reconcile: func(_ context.Context, item *Item) (Result, error) {
		item.Warn("Long", strings.Repeat("ü", 2000))
		return WaitFor("the end"), nil
	}}, newItem())
	s.look()
	if emitted := s.emitted(); len(emitted) != 1 || !utf8.ValidString(emitted[0]) || len(emitted[0]) > 1100 || !strings.HasSuffix(emitted[0], "...") {
		t.Errorf("events %q", emitted)
	}
}

// TestWarningsAreInTheStatus: they come with a write that the job makes anyway, stay until
// the next job and go with it, also over a write that is lost.
func TestWarningsAreInTheStatus(t *testing.T) {
	warnings := []string{"spec.config.readinessCheks: unknown field"}
	s := onStage(t, &script{reconcile: func(_ context.Context, item *Item) (Result, error) {
		item.Warn("UnknownFields", warnings...)
		warnings = nil // as a deployer whose further attempts go on from there
		return Done(), nil
	}}, newItem())
	said := func() string {
		found := job.GetCondition(s.item().Status.Conditions, v1alpha1.WarningsCondition)
		if found == nil {
			return ""
		}
		return string(found.Status) + " " + found.Reason + " " + found.Message
	}
	const want = "True UnknownFields spec.config.readinessCheks: unknown field"
	s.trouble = []error{apierrors.NewConflict(schema.GroupResource{}, "item", errors.New("x"))}
	s.look()
	s.look()
	s.expect("Succeeded", true, "")
	if got := said(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	again := func() {
		item := s.item()
		AssignJob(item, s.clock)
		if err := s.reconciler.client.Status().Update(t.Context(), item); err != nil {
			t.Fatal(err)
		}
		s.look()
		s.expect("Succeeded", true, "")
	}
	item := s.item()
	item.Spec.UpdateOnChangeOnly = true
	if err := s.reconciler.client.Update(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	if again(); said() != want {
		t.Errorf("a job that looks at nothing: %q", said())
	}
	item = s.item()
	item.Spec.UpdateOnChangeOnly = false
	if err := s.reconciler.client.Update(t.Context(), item); err != nil {
		t.Fatal(err)
	}
	if again(); said() != "" {
		t.Errorf("after a job without warnings: %q", said())
	}
}
