package deployer

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
)

// TestNewsOfAWait shows that the status follows what is waited for, at a rate that does
// not grow with the number of changes, and that the last news are told, too.
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
		s.reconciler.wake(key)
		result = look()
		s.clock = s.clock.Add(50 * time.Millisecond)
	}
	if took := s.clock.Sub(begun); writes > 15 || writes < 8 {
		t.Errorf("%d writes in %s", writes, took)
	}
	if result.RequeueAfter <= 0 || result.RequeueAfter > maxTold {
		t.Fatalf("the last news wait for %s", result.RequeueAfter)
	}
	s.clock = s.clock.Add(result.RequeueAfter)
	if look(); !strings.Contains(s.item().Status.Conditions[0].Message, "999 of 1000") {
		t.Errorf("the status says %q", s.item().Status.Conditions[0].Message)
	}
	before := writes
	s.reconciler.wake(key)
	if look(); writes != before {
		t.Error("no news are no write")
	}
	// What is not only news is told at once.
	state++
	s.reconciler.wake(key)
	look()
	s.script.reconcile = func(context.Context, *Item) (Result, error) { return Done(), nil }
	s.reconciler.wake(key)
	look()
	s.expect("Succeeded", true, "")
}
