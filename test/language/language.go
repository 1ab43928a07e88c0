// Package language runs expressions and documents of spiff in the tests of the packages that the
// language is made of. A row is a template and what must come of it.
package language

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"go.landscaper.dev/internal/content/template/spiff"
)

// Row is why something is asked, a template, and what must come of it.
type Row [3]string

// Language is the engine with what surrounds a template. The zero value knows nothing
// but the template.
type Language struct {
	spiff.Config
	Bindings map[string]any
	Stubs    []string
	State    string
}

// Gives evaluates expressions. What is wanted is the result as YAML; an integer is
// another result than a float.
func (l Language) Gives(t *testing.T, rows []Row) {
	t.Helper()
	l.renders(t, rows, expression)
}

// Fails evaluates expressions. What is wanted is a part of the message.
func (l Language) Fails(t *testing.T, rows []Row) {
	t.Helper()
	l.breaks(t, rows, expression)
}

// Renders processes documents. What is wanted is the result as YAML.
func (l Language) Renders(t *testing.T, rows []Row) {
	t.Helper()
	l.renders(t, rows, document)
}

// Breaks processes documents. What is wanted is a part of the lines "path class
// message" of the report.
func (l Language) Breaks(t *testing.T, rows []Row) {
	t.Helper()
	l.breaks(t, rows, document)
}

// expression is a document that consists of it; it may hold any character.
func expression(t *testing.T, text string) spiff.Document {
	t.Helper()
	doc, err := spiff.FromData("(( "+text+" ))", "expression")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func document(t *testing.T, text string) spiff.Document {
	t.Helper()
	doc, err := spiff.ParseOne([]byte(text), "template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func (l Language) renders(t *testing.T, rows []Row, read func(*testing.T, string) spiff.Document) {
	t.Helper()
	for _, row := range rows {
		reason, template, want := row[0], row[1], row[2]
		t.Run(reason, func(t *testing.T) {
			got, err := l.process(t, read(t, template))
			if err != nil {
				t.Fatalf("%s: %v", template, err)
			}
			if diff := cmp.Diff(Data(t, want), got.Data(), cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", template, diff)
			}
		})
	}
}

func (l Language) breaks(t *testing.T, rows []Row, read func(*testing.T, string) spiff.Document) {
	t.Helper()
	for _, row := range rows {
		reason, template, want := row[0], row[1], row[2]
		t.Run(reason, func(t *testing.T) {
			got, err := l.process(t, read(t, template))
			if err == nil {
				t.Fatalf("%s gives %v", template, got.Data())
			}
			if text := Lines(err); want == "" || !strings.Contains(text, want) {
				t.Errorf("%s says %q", template, text)
			}
		})
	}
}

// Process evaluates an expression.
func (l Language) Process(t *testing.T, text string) (any, error) {
	t.Helper()
	result, err := l.process(t, expression(t, text))
	if err != nil {
		return nil, err
	}
	return result.Data(), nil
}

// Render processes a document.
func (l Language) Render(t *testing.T, text string) (*spiff.Result, error) {
	t.Helper()
	return l.process(t, document(t, text))
}

func (l Language) process(t *testing.T, doc spiff.Document) (*spiff.Result, error) {
	t.Helper()
	engine, err := spiff.New(l.Config)
	if err != nil {
		t.Fatal(err)
	}
	in := spiff.Input{Bindings: l.Bindings}
	for i, text := range l.Stubs {
		stub, err := spiff.ParseOne([]byte(text), fmt.Sprintf("stub%d.yaml", i+1))
		if err != nil {
			t.Fatal(err)
		}
		in.Stubs = append(in.Stubs, stub)
	}
	if l.State != "" {
		state, err := spiff.ParseData([]byte(l.State), "state.yaml")
		if err != nil {
			t.Fatal(err)
		}
		in.State = &state
	}
	result, err := engine.Process(context.Background(), doc, in, spiff.Options{})
	if errors.Is(err, spiff.ErrInternal) || errors.Is(err, spiff.ErrTimeLimit) {
		t.Fatalf("the evaluation is aborted: %v", err)
	}
	return result, err
}

// Data is the content of a YAML text of which nothing is evaluated.
func Data(t *testing.T, text string) any {
	t.Helper()
	doc, err := spiff.ParseData([]byte(text), "want")
	if err != nil {
		t.Fatal(err)
	}
	return doc.Data()
}

// Lines are the nodes of a report as "path class message", without the expressions,
// in which a part of a message could be found by accident.
func Lines(err error) string {
	report, ok := errors.AsType[*spiff.Error](err)
	if !ok {
		return err.Error()
	}
	var b strings.Builder
	for _, n := range report.Nodes {
		fmt.Fprintf(&b, "%s %c%s\n", n.Path, n.Class, n.Message)
		write(&b, n.Nested, "\t")
	}
	return b.String()
}

func write(b *strings.Builder, issues []spiff.Issue, indent string) {
	for _, issue := range issues {
		fmt.Fprintf(b, "%s%s\n", indent, issue.Message)
		write(b, issue.Nested, indent+"\t")
	}
}
