package several

import (
	"errors"
	"fmt"
	"testing"
)

func TestErrors(t *testing.T) {
	a, b := errors.New("a"), errors.New("b")
	many := Errors{}
	for i := range 8 {
		many = append(many, fmt.Errorf("e%d", i))
	}
	tests := []struct {
		reason string
		errs   Errors
		want   string
	}{
		{"a single error", Errors{a}, "a"},
		{"two errors", Errors{a, b}, "a; b"},
		{"an error that is repeated is reported once", Errors{a, b, errors.New("a")}, "a; b"},
		{"a person reads no more than a few", many, "e0; e1; e2; e3; e4; and 3 more"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if got := test.errs.Error(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
			for _, err := range test.errs {
				if !errors.Is(test.errs.OrNil(), err) {
					t.Errorf("%v is not among them any more", err)
				}
			}
		})
	}
	if Errors(nil).OrNil() != nil {
		t.Error("no errors are an error")
	}
}
