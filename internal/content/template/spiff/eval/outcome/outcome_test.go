package outcome_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

func TestClean(t *testing.T) {
	failure := &outcome.Failure{Issue: outcome.Issue{Message: "no", Nested: []outcome.Issue{{Message: "because"}}}}
	pending := &outcome.Pending{Class: outcome.Waiting, Issue: outcome.Issue{Message: "waits"}}
	abort := &outcome.Abort{Err: errors.New("over")}
	tests := []struct {
		reason  string
		err     error
		want    error // the very same
		message string
		fails   bool
	}{
		{"nothing", nil, nil, "", false},
		{"a failure", failure, failure, "no", true},
		{"a wait", pending, pending, "waits", false},
		{"the end", abort, abort, "over", false},
		{"a failure inside of an error keeps its reasons", fmt.Errorf("f: %w", failure), nil, "f: no", true},
		{"a wait inside of an error is a wait", fmt.Errorf("f: %w", pending), pending, "waits", false},
		{"the end inside of an error is the end", fmt.Errorf("f: %w", abort), abort, "over", false},
		{"the end counts more than a failure", errors.Join(failure, abort), abort, "over", false},
		{"a wait counts more than a failure", errors.Join(failure, pending), pending, "waits", false},
		{"any other error is a failure", errors.New("broken"), nil, "broken", true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := outcome.Clean(test.err)
			if (got == nil) != (test.err == nil) || got != nil && got.Error() != test.message || test.want != nil && got != test.want {
				t.Errorf("%#v", got)
			}
			failed := outcome.AsFailure(test.err)
			if (failed != nil) != test.fails || outcome.Aborted(got) != (got == error(abort)) {
				t.Errorf("failure %v, aborted %t", failed, outcome.Aborted(got))
			}
			if strings.HasPrefix(test.message, "f: no") && len(failed.Issue.Nested) != 1 {
				t.Error("its reasons are lost")
			}
		})
	}
}

func TestDependent(t *testing.T) {
	deferred := &outcome.Pending{Class: outcome.Waiting, Deferred: value.New(value.Int(1))}
	tests := []struct {
		reason string
		err    error
		class  outcome.Class
		same   bool
		again  bool
	}{
		{"of a failure it waits for what failed", outcome.Fail("no"), outcome.Follower, false, false},
		{"of a wait it waits as well", outcome.ErrRunning, outcome.Waiting, false, false},
		{"of a follower it follows", &outcome.Pending{Class: outcome.Follower}, outcome.Follower, false, false},
		{"a node that has to be evaluated first is passed on", deferred, outcome.Waiting, true, true},
		{"a node that may be tried again is passed on", outcome.ErrTried, outcome.Waiting, true, true},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			got := outcome.Dependent(test.err, "'%s' unresolved", "a")
			pending, ok := errors.AsType[*outcome.Pending](got)
			if !ok || pending.Class != test.class || (got == test.err) != test.same || outcome.Again(got) != test.again {
				t.Errorf("%#v", got)
			}
			if !test.same && got.Error() != "'a' unresolved" {
				t.Errorf("%v", got)
			}
		})
	}
	if outcome.DeferredNode(deferred) != deferred.Deferred || outcome.DeferredNode(outcome.Fail("no")) != nil {
		t.Error("what has to be evaluated first is not known")
	}
	abort := &outcome.Abort{Err: errors.New("over")}
	if outcome.Dependent(abort, "x") != error(abort) || !errors.Is(abort, abort.Err) {
		t.Error("the end is not propagated")
	}
	if given := errors.New("given"); outcome.OrFail(given, "x") != given || outcome.OrFail(nil, "x %d", 1).Error() != "x 1" {
		t.Error("an error that is there is replaced, or none is made")
	}
}

func TestReport(t *testing.T) {
	report := &outcome.Errors{Nodes: []outcome.Node{
		{Path: "a", Expression: "(( b ))", Source: "t.yaml", Class: outcome.Local, Message: "no"},
		{Path: "c", RefPath: "x.y", Expression: "(( d\n+ 1 ))", Source: "t.yaml", Class: outcome.Follower, Message: "two\nlines",
			Nested: []outcome.Issue{{Message: "because", Nested: []outcome.Issue{{Message: "of\nthis"}}}}},
	}}
	want := "unresolved nodes:\n" +
		"\t(( b ))\tin t.yaml\ta\t()\t*no\n" +
		"\t(( d\n\t+ 1 ))\tin t.yaml\tc\t(x.y)\t-two\n\tlines\n" +
		"\t\tbecause\n\t\t\tof\n\t\t\tthis"
	if got := report.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTracesEnd(t *testing.T) {
	deep := outcome.Issue{Message: "0"}
	for i := 1; i < 100; i++ {
		deep = outcome.Issue{Message: fmt.Sprint(i), Nested: outcome.Nested(deep)}
	}
	levels := 0
	for list := []outcome.Issue{deep}; len(list) > 0; list = list[0].Nested {
		levels++
	}
	if levels > outcome.MaxTrace+1 {
		t.Errorf("%d levels", levels)
	}
	var nodes []outcome.Node
	for i := range 100 {
		nodes = append(nodes, outcome.Node{Path: fmt.Sprint(i), Message: "no"})
	}
	if got := outcome.NestedIssues(nodes, nil); len(got) != outcome.MaxTrace || !strings.Contains(got[0].Message, "*no") && !strings.Contains(got[0].Message, "no") {
		t.Errorf("%d issues, the first is %q", len(got), got[0].Message)
	}
	first := []outcome.Issue{{Message: "because"}}
	if got := outcome.NestedIssues(nodes[:1], first); len(got) != 1 || got[0].Message != "because" {
		t.Errorf("of one node its own reasons: %v", got)
	}
}
