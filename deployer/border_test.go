package deployer

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/job"
)

// TestErrorIsKnown: an error of a deployer is one of ours for all who make a status of it,
// however it is wrapped.
func TestErrorIsKnown(t *testing.T) {
	broken := errors.New("broken")
	own := &Error{Operation: "o", Reason: "r", Message: "write a", Codes: []v1alpha1.ErrorCode{v1alpha1.ErrorUnauthorized}, Cause: broken}
	for _, test := range []struct {
		reason string
		err    error
		want   string
	}{
		{"as it is", own, "write a: broken"},
		{"wrapped", fmt.Errorf("deploy: %w", own), "deploy: write a: broken"},
		{"joined with another one", errors.Join(errors.New("other"), own), "other\nwrite a: broken"},
		{"marked as final", Final(own), "write a: broken"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			var known *job.Error
			if !errors.As(test.err, &known) || known.Operation != "o" || known.Reason != "r" || known.Message != "write a" {
				t.Errorf("known as %+v", known)
			}
			var itself *Error
			if !errors.As(test.err, &itself) || itself != own || !errors.Is(test.err, broken) {
				t.Error("the error itself or its cause is lost")
			}
			if codes := job.Codes(test.err); len(codes) != 1 || codes[0] != v1alpha1.ErrorUnauthorized {
				t.Errorf("codes %v", codes)
			}
			if test.err.Error() != test.want || OutcomeOf(test.err) != OutcomeFinal {
				t.Errorf("%q, outcome %s", test.err, OutcomeOf(test.err))
			}
		})
	}
}

// TestEgressPolicy: no setting is lost on the way to the policy of the clients.
func TestEgressPolicy(t *testing.T) {
	var all Egress
	settings := reflect.ValueOf(&all).Elem()
	for i := range settings.NumField() {
		switch field := settings.Field(i); field.Kind() {
		case reflect.Bool:
			field.SetBool(true)
		case reflect.String:
			field.SetString("environment")
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), i+1, i+1))
		default:
			t.Fatalf("%s is a %s, which the test does not know", settings.Type().Field(i).Name, field.Kind())
		}
	}
	policy := reflect.ValueOf(all.policy())
	for _, field := range reflect.VisibleFields(policy.Type()) {
		if !field.IsExported() {
			continue
		}
		given := settings.FieldByName(field.Name)
		if !given.IsValid() || !reflect.DeepEqual(policy.FieldByIndex(field.Index).Interface(), given.Interface()) {
			t.Errorf("%s is lost", field.Name)
		}
	}
}
