package job

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/parallelize"
)

// breakDown panics like a mistake of ours does.
func breakDown() error {
	var inst *v1alpha1.Installation
	return errors.New(inst.Name)
}

// TestPanicNamesItsPlace: a mistake of ours ends the job, and says where it is.
func TestPanicNamesItsPlace(t *testing.T) {
	err := RecoverPanic(breakDown)
	if !IsPanic(err) || OutcomeOf(err) != Terminal || !strings.Contains(err.Error(), "nil pointer dereference in internal/runtime/job.breakDown, line ") {
		t.Fatal(err)
	}
	if err := RecoverPanic(func() error { return http.ErrAbortHandler }); IsPanic(err) {
		t.Error("an error is not a panic")
	}
}

// TestPanicShowsNoValue: what is thrown may hold a secret.
func TestPanicShowsNoValue(t *testing.T) {
	for _, test := range []struct {
		thrown any
		want   string
	}{
		{"password", "panic with a string in internal/runtime/job."}, {errors.New("password"), "panic with an error in "}, {fmt.Errorf("read: %w", errors.New("password")), "panic with an error in "},
		{map[string]string{"password": "password"}, "panic with a value in "}, {1234, "panic with a number or boolean in "},
	} {
		err := RecoverPanic(func() error { panic(test.thrown) })
		if strings.Contains(err.Error(), "password") || strings.Contains(err.Error(), "1234") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}

// TestPanicElsewhere: a panic of a parallel call ends the job as any other panic does.
func TestPanicElsewhere(t *testing.T) {
	err := RecoverPanic(func() error {
		parallelize.Do(2, func(int) { _ = breakDown() }) // it never returns
		return nil
	})
	var broken *Panic
	if !errors.As(err, &broken) || !strings.Contains(broken.Problem, "nil pointer dereference in internal/runtime/job.breakDown, line ") || !strings.Contains(broken.Stack, "job.breakDown") {
		t.Errorf("%v\n%+v", err, broken)
	}
	err = RecoverPanic(func() error {
		parallelize.Do(2, func(int) { panic("password") })
		return nil
	})
	if !errors.As(err, &broken) || strings.Contains(err.Error(), "password") || !strings.Contains(err.Error(), "panic with a string in internal/runtime/job.TestPanicElsewhere") {
		t.Error(err)
	}
}

// TestPanicWithin: a parallel call may make parallel calls. A panic of such a call keeps its
// location, too.
func TestPanicWithin(t *testing.T) {
	err := RecoverPanic(func() error {
		parallelize.Do(2, func(int) {
			parallelize.Do(2, func(int) { _ = breakDown() }) // it never returns
		})
		return nil
	})
	var broken *Panic
	if !errors.As(err, &broken) || !strings.Contains(broken.Problem, "nil pointer dereference in internal/runtime/job.breakDown, line ") || !strings.Contains(broken.Stack, "job.breakDown") {
		t.Errorf("%v\n%+v", err, broken)
	}
}
