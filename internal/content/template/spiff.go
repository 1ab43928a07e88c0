package template

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.landscaper.dev/internal/content/template/mask"
	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
)

// templateName is what reports call a spiff template.
const templateName = "template"

// spiffLimits are stricter than those of the language: templates of blueprints are
// not programs.
func spiffLimits(timeout time.Duration) spiff.Limits {
	return spiff.Limits{Depth: 1_000, Time: timeout}
}

// spiff evaluates a spiff template.
func (e *Engine) spiff(ctx context.Context, s source, in Input, state any) (*Output, error) {
	template, err := s.spiffDocument()
	if err != nil {
		return nil, describe(err, s, nil)
	}
	input := spiff.Input{Bindings: in.Bindings}
	if state != nil {
		document, err := spiff.ParseData(in.State, "state")
		if err != nil {
			return nil, fmt.Errorf("%s: unable to load state: the stored state is not YAML", s.what())
		}
		input.State = &document
	}
	ctx, cancel := context.WithTimeout(ctx, e.timeout())
	defer cancel()
	failures := &failures{text: s.spiffText(), masked: func() *mask.Mask { return mask.New(in.Bindings) }}
	config := spiff.Config{Access: spiff.AccessNone, Sensitive: true, Limits: spiffLimits(e.timeout()), Functions: failures.watched(e.Functions.Spiff)}
	if e.Files != nil {
		config.Access, config.Files = spiff.AccessFiles, e.Files
	}
	engine, err := spiff.New(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.what(), err)
	}
	result, err := engine.Process(ctx, template, input, spiff.Options{})
	if err != nil {
		return nil, describe(failures.with(err), s, in.Bindings)
	}
	return s.spiffOutput(result, in, state)
}

func (s source) spiffOutput(result *spiff.Result, in Input, state any) (*Output, error) {
	out := &Output{source: s}
	var text strings.Builder
	if err := result.WriteJSON(&text); err != nil {
		return nil, fmt.Errorf("%s: the result cannot be written as JSON", s.what())
	}
	out.broken = out.take([]byte(text.String()))
	if in.Phase == ImportExecution {
		return out, nil
	}
	var err error
	if out.state, err = newState(state, result.State()); err != nil {
		return nil, fmt.Errorf("%s: unable to store state: %w", s.what(), err)
	}
	return out, nil
}

// spiffDocument parses the template.
func (s source) spiffDocument() (spiff.Document, error) {
	if s.document != nil {
		return spiff.FromData(s.document, templateName)
	}
	return spiff.ParseOne([]byte(s.text), templateName)
}

// spiffText is the text of the template, to distinguish its own words from values.
func (s source) spiffText() string {
	if s.document == nil {
		return s.text
	}
	return strings.Join(textsOf(s.document), "\n")
}

func textsOf(value any) []string {
	var found []string
	walk(value, "", func(_, text string) { found = append(found, text) })
	return found
}

// checkSpiff parses the document and its expressions.
func checkSpiff(s source) error {
	document, err := s.spiffDocument()
	if err != nil {
		return describe(err, s, nil)
	}
	var problems []error
	walk(document.Data(), "", func(path, text string) {
		if len(text) < 4 || !strings.HasPrefix(text, "((") || !strings.HasSuffix(text, "))") || text[2] == '!' {
			return
		}
		if _, err := syntax.Parse(text[2 : len(text)-2]); err != nil {
			problems = append(problems, fmt.Errorf("%s\tin %s\t%s\t%w", text, templateName, path, err))
		}
	})
	if len(problems) == 0 {
		return nil
	}
	return describe(errors.Join(problems...), s, nil)
}

// failures keep what functions of the caller said. The language leaves it out of
// its reports, because it does not know what is in it.
type failures struct {
	// text is what the template says, and masked makes the mask of its values.
	text     string
	masked   func() *mask.Mask
	messages []string
	// causes are behind the report, for callers that ask whether to try again.
	causes []error
}

// maxFailures bounds what is kept: a template can catch failures and continue.
const maxFailures = 20

func (f *failures) watched(functions map[string]Function) map[string]spiff.Function {
	watched := make(map[string]spiff.Function, len(functions))
	for name, function := range functions {
		watched[name] = func(ctx context.Context, args []any) (any, error) {
			result, err := function(ctx, args)
			if err != nil && len(f.messages) < maxFailures {
				known := func(text string) bool { return strings.Contains(f.text, text) }
				f.messages = append(f.messages, name+": "+f.masked().Reason(err, args, known))
				f.causes = append(f.causes, err)
			}
			return result, err
		}
	}
	return watched
}

// with adds to a report what the functions said.
func (f *failures) with(err error) error {
	if len(f.messages) == 0 {
		return err
	}
	slices.Sort(f.messages)
	return &failed{
		error:  fmt.Errorf("%w\nfailed functions:\n\t%s", err, strings.Join(slices.Compact(f.messages), "\n\t")),
		causes: f.causes,
	}
}

// failed is a report with what is behind it, which is not shown.
type failed struct {
	error
	causes []error
}

// Unwrap returns the report and the causes.
func (f *failed) Unwrap() []error { return append([]error{f.error}, f.causes...) }
