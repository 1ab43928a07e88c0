package inspect

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

func TestCondition(t *testing.T) {
	done, running := object("Succeeded"), object("Progressing")
	running.Status.JobID, running.Status.JobIDFinished = "j2", "j1"
	for _, test := range []struct {
		reason, text string
		given        *v1alpha1.Installation
		want         Result
		why          string
	}{
		{"the phase", "phase=Succeeded", done, Reached, ""},
		{"another phase of a job that runs", "phase=Completing", running, Pending, ""},
		{"another phase without a running job", "phase=Failed", done, Pending, "phase=Failed is not the case, and no job is running"},
		{"nothing is there", "phase=Failed", nil, Gone, ""},
		{"a value", "jsonpath={.status.phase}=Succeeded", done, Reached, ""},
		{"any value", "jsonpath={.status.jobID}", done, Reached, ""},
		{"no value", "jsonpath={.status.nothing}", done, Pending, "jsonpath={.status.nothing} is not the case, and no job is running"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			condition, err := ParseCondition(test.text)
			if err != nil || condition == nil {
				t.Fatal(err)
			}
			if got := condition.Judge(test.given, Start{}); got.Result != test.want || got.Reason != test.why {
				t.Errorf("%+v", got)
			}
		})
	}
	for text, want := range map[string]string{
		"jsonpath=.status":       "write the path in braces",
		"jsonpath={.a}b":         "behind the path",
		"jsonpath={.a[}=b":       "jsonpath",
		"succeeded is not one":   "",
		"jsonpath={{range}}}=10": "jsonpath",
	} {
		t.Run(text, func(t *testing.T) {
			condition, err := ParseCondition(text)
			if condition != nil || (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%v, %v", condition, err)
			}
		})
	}
}
