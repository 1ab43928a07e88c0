package builtin_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/internal/content/template/spiff/builtin"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
)

// withoutExample are functions whose result is different every time, or needs
// a whole document.
var withoutExample = map[string]bool{
	"bcrypt": true, "md5crypt": true, "x509genkey": true, "x509publickey": true, "x509cert": true,
	"x509parsecert": true, "encrypt": true, "static_ips": true,
}

// TestTable checks that every function is documented.
func TestTable(t *testing.T) {
	for _, f := range builtin.All() {
		if f.Doc == "" || f.Usage == "" || f.Result == "" || f.Group == "" || f.Tier < 1 || f.Tier > 3 {
			t.Errorf("%s is not documented completely", f.Name)
		}
		if !strings.HasPrefix(f.Usage, f.Name+"(") {
			t.Errorf("usage of %s is %q", f.Name, f.Usage)
		}
		if f.Run == nil && !f.Aware {
			t.Errorf("%s has no implementation", f.Name)
		}
		if f.Example == "" && f.Access == call.None && !withoutExample[f.Name] {
			t.Errorf("%s has no example", f.Name)
		}
	}
}

// TestExamples evaluates the examples of the documentation.
func TestExamples(t *testing.T) {
	engine, err := spiff.New(spiff.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range builtin.All() {
		if f.Example == "" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			if got := evaluate(t, engine, f.Example); got != f.Gives {
				t.Errorf("(( %s )) gives %q instead of %q", f.Example, got, f.Gives)
			}
		})
	}
}

// evaluate returns a text result as it is and others as JSON.
func evaluate(t *testing.T, engine *spiff.Engine, expression string) string {
	t.Helper()
	doc, err := spiff.FromData("(( "+expression+" ))", "example")
	if err != nil {
		t.Fatal(err)
	}
	result, err := engine.Process(context.Background(), doc, spiff.Input{}, spiff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := result.Data().(string); ok {
		return text
	}
	var b strings.Builder
	if err := result.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

// TestWrongArguments calls every function with arguments of every type; each
// call has to end with a value or a message.
func TestWrongArguments(t *testing.T) {
	engine, err := spiff.New(spiff.Config{Limits: spiff.Limits{Steps: 200_000}})
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{"nil", "true", "-1", "0", "3", "1.5", `""`, `"text"`, `"1.2.3"`, `"10.0.0.0/30"`, "[]", `["a", 1, nil]`,
		"{}", `{"name"="x", "key"=1}`, "|x|->x", "|a,b|->a", "lambda |x...|->error(\"no\")"}
	for _, f := range builtin.All() {
		for _, a := range arguments {
			for _, call := range []string{f.Name + "()", f.Name + "(" + a + ")", f.Name + "(" + a + ", " + a + ")",
				f.Name + "(\"x\", " + a + ")", f.Name + "(" + a + ", \"x\", " + a + ")", f.Name + "([1, 2], " + a + ")",
				f.Name + "(" + a + "...)", f.Name + "(1, 2, 3, 4, 5)"} {
				doc, err := spiff.FromData("(( "+strings.ReplaceAll(call, "(|", "(lambda |")+" ))", "call")
				if err != nil {
					t.Fatal(err)
				}
				_, err = engine.Process(context.Background(), doc, spiff.Input{}, spiff.Options{})
				if errors.Is(err, spiff.ErrInternal) {
					t.Errorf("(( %s )) crashes: %v", call, err)
				}
				if err != nil && strings.Contains(err.Error(), "%!") && f.Name != "error" {
					t.Errorf("(( %s )): message has a broken format: %v", call, err)
				}
			}
		}
	}
}
