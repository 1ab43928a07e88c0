package decide_test

import (
	"slices"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/dataflow"
	"go.landscaper.dev/internal/installation/decide"
	"go.landscaper.dev/internal/installation/given"
	"go.landscaper.dev/internal/installation/kin"
)

// TestDecideMissing: an import is waited for as long as somebody is about to bring it.
func TestDecideMissing(t *testing.T) {
	for _, test := range []struct {
		reason    string
		missing   []*dataflow.MissingError
		exporters []kin.Exporter
		want      decide.Step
		wake      string
		message   string
	}{
		{"nobody exports it", given.Missing("db"), nil, decide.Fail, "the step itself", `there is no DataObject "db"`},
		{"who exports it is under way", given.Missing("db"), []kin.Exporter{{Name: "a", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}}, decide.Await, "Installation a", "waiting for Installations a"},
		{"who exports it has ended without", given.Missing("db"), []kin.Exporter{{Name: "a", Kind: dataflow.KindDataObject, Object: "db"}}, decide.Fail, "the step itself", `there is no DataObject "db"`},
		{"two bring it", given.Missing("db"), []kin.Exporter{{Name: "a", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}, {Name: "b", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}}, decide.Await, "Installation a, Installation b", "a, b"},
		{"each is brought by another", given.Missing("db", "dns"), []kin.Exporter{{Name: "a", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}, {Name: "b", Kind: dataflow.KindDataObject, Object: "dns", UnderWay: true}}, decide.Await, "Installation a, Installation b", `"dns"`},
		{"one of two comes from nobody", given.Missing("db", "dns"), []kin.Exporter{{Name: "a", Kind: dataflow.KindDataObject, Object: "db", UnderWay: true}}, decide.Fail, "the step itself", `"dns"`},
		{"a Target of the name is something else", given.Missing("db"), []kin.Exporter{{Name: "a", Kind: dataflow.KindTarget, Object: "db", UnderWay: true}}, decide.Fail, "the step itself", `"db"`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := decide.ByMissing(nil, test.missing, test.exporters)
			if got.Do != test.want || got.Wake.String() != test.wake || !strings.Contains(got.Err.Error(), test.message) {
				t.Errorf("%s by %s: %v", got.Do, got.Wake, got.Err)
			}
		})
	}
}

// TestChildrenError: the parent names the causes, and not what only follows from them.
func TestChildrenError(t *testing.T) {
	failed := func(name, reason, message string) given.Option {
		return func(s *decide.Situation) {
			given.WithSub(name, "a", "a", "Failed")(s)
			s.Subs[len(s.Subs)-1].Status.LastError = &v1alpha1.Error{Reason: reason, Message: message}
		}
	}
	for _, test := range []struct {
		reason  string
		options []given.Option
		want    string
	}{
		{"the cause, without what follows", []given.Option{failed("b", "TemplatingFailed", "no capacity"), failed("c", kin.PredecessorFailed, "depending on b"), given.WithSub("d", "a", "a", "Succeeded")}, "no capacity; in b"},
		{"several causes", []given.Option{failed("b", "x", "1"), failed("c", "x", "2"), failed("d", "x", "3"), failed("e", "x", "4"), failed("f", "x", "5")}, "1; in b\n2; in c\n3; in d\nand 2 more"},
		{"one was deleted", []given.Option{given.Written("b")}, "another client has deleted Installation b during the job: start another job with the annotation landscaper.gardener.cloud/operation: reconcile"},
		{"the Execution, too", []given.Option{failed("b", "x", "1"), given.WithExecution("a", "a", "Failed"), func(s *decide.Situation) { s.Exec.Status.LastError = &v1alpha1.Error{Message: "2"} }}, "1; in b\n2"},
		{"a long message is cut", []given.Option{failed("b", "x", strings.Repeat("y", 3000))}, strings.Repeat("y", 1000) + " ...; in b"},
		{"many", slices.Repeat([]given.Option{failed("b", kin.PredecessorFailed, "x")}, 25), "x; in b"},
		{"none", []given.Option{given.WithSub("b", "a", "a", "Succeeded")}, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := ""
			if err := decide.Next(given.Situation(append(test.options, given.Finalized, given.Jobs("a", "", "Progressing"), given.Traced)...)).Err; err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestSayWhoImports: the message of a deletion that waits names those that import, and
// what lets it go before them.
func TestSayWhoImports(t *testing.T) {
	got := decide.Next(given.Situation(given.Deleting, given.Finalized, given.ExportsSomething, given.Surveyed("b", "c"), given.Jobs("a", "z", "InitDelete"))).Err
	const want = "a sibling still imports some of the exports: waiting until Installations b, c are deleted: delete them, or let this Installation go before them with the annotation landscaper.gardener.cloud/delete-ignore-successors=true"
	if got == nil || got.Error() != want {
		t.Errorf("got %v", got)
	}
}
