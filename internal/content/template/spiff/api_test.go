package spiff_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"go.landscaper.dev/internal/content/template/spiff"
)

func newEngine(t testing.TB, c spiff.Config) *spiff.Engine {
	t.Helper()
	engine, err := spiff.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

func process(t testing.TB, engine *spiff.Engine, template any, in spiff.Input) (any, error) {
	t.Helper()
	doc, err := spiff.FromData(template, "template")
	if err != nil {
		t.Fatal(err)
	}
	result, err := engine.Process(context.Background(), doc, in, spiff.Options{})
	if err != nil {
		return nil, err
	}
	return result.Data(), nil
}

func TestHostFunctions(t *testing.T) {
	engine := newEngine(t, spiff.Config{Functions: map[string]spiff.Function{
		"double": func(_ context.Context, args []any) (any, error) { return args[0].(int64) * 2, nil },
		"fails":  func(context.Context, []any) (any, error) { return nil, errors.New("no such component") },
		"object": func(context.Context, []any) (any, error) {
			return map[string]any{"a": []any{1.0, 2.5, "(( x ))"}}, nil
		},
	}})
	template := map[string]any{
		"a": `(( double(4) ))`, "b": `(( fails() || "default" ))`, "c": `(( object().a[1] ))`, "d": `(( object().a[2] ))`,
		"e": `(( double("x") || "crashed" ))`, "f": `(( double() || "crashed" ))`, "g": `(( object().a[0] + 1 ))`,
		"h": `(( double*(5)() ))`, "i": `(( catch[fails()|v,e|->e] ))`,
	}
	want := map[string]any{
		"a": int64(8), "b": "default", "c": 2.5, "d": "(( x ))", "e": "crashed", "f": "crashed", "g": int64(2),
		"h": int64(10), "i": "fails: no such component",
	}
	got, err := process(t, engine, template, spiff.Input{})
	if diff := cmp.Diff(any(want), got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestConfigIsChecked(t *testing.T) {
	tests := []struct {
		reason string
		config spiff.Config
	}{
		{"unknown feature", spiff.Config{Features: []string{"magic"}}},
		{"a builtin cannot be replaced", spiff.Config{Functions: map[string]spiff.Function{"join": nil}}},
		{"full access needs a system", spiff.Config{Access: spiff.AccessFull}},
		{"tags must be data", spiff.Config{Tags: map[string]any{"x": make(chan int)}}},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if _, err := spiff.New(test.config); err == nil {
				t.Error("no error")
			}
		})
	}
	if _, err := spiff.New(spiff.Config{Features: []string{"control", "nocontrol"}}); err != nil {
		t.Error(err)
	}
}

// TestConcurrentUse shares an engine, prepared stubs and a document.
func TestConcurrentUse(t *testing.T) {
	engine := newEngine(t, spiff.Config{})
	stub, err := spiff.ParseOne([]byte("f: (( |x,y=[1]|->x y ))\nlist: [{name: a, v: 2}]\nt: {<<: (( &template )), z: (( q ))}"), "stub")
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := engine.Prepare(context.Background(), spiff.Input{
		Stubs: []spiff.Document{stub}, Bindings: map[string]any{"n": 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := spiff.ParseOne([]byte(
		"f: (( merge ))\nt: (( merge ))\nlist: [{name: a, v: 1}]\nq: (( n ))\nr: (( .f([5]) ))\ni: (( *t ))\n"), "template")
	if err != nil {
		t.Fatal(err)
	}
	before := fmt.Sprint(doc.Data())
	var group sync.WaitGroup
	results := make([]string, 20)
	for i := range results {
		group.Add(1)
		go func() {
			defer group.Done()
			r, err := prepared.Stream(spiff.Options{}).Process(context.Background(), doc)
			if err != nil {
				results[i] = err.Error()
				return
			}
			results[i], _ = r.YAML()
		}()
	}
	group.Wait()
	for _, r := range results {
		if r != results[0] || !strings.Contains(r, "v: 2") || !strings.Contains(r, "z: 3") {
			t.Fatalf("results differ or are wrong:\n%s\n%s", results[0], r)
		}
	}
	if after := fmt.Sprint(doc.Data()); after != before {
		t.Errorf("processing changes the document from %s to %s", before, after)
	}
}

// TestUndefinedMapping is what data mappings rely on.
func TestUndefinedMapping(t *testing.T) {
	got, err := process(t, newEngine(t, spiff.Config{}), "(( x || ~~ ))", spiff.Input{})
	if got != nil || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestStateIsEmptyWithoutMarkers lets callers skip writing.
func TestStateIsEmptyWithoutMarkers(t *testing.T) {
	doc, err := spiff.FromData(map[string]any{"a": 1}, "template")
	if err != nil {
		t.Fatal(err)
	}
	r, err := newEngine(t, spiff.Config{}).Process(context.Background(), doc, spiff.Input{}, spiff.Options{})
	if err != nil || len(r.State()) != 0 {
		t.Errorf("state is %v, %v", r.State(), err)
	}
}

// TestBoundDataComesOutUnchanged passes any data through an expression: nothing in it may be
// evaluated or lost.
func TestBoundDataComesOutUnchanged(t *testing.T) {
	engine := newEngine(t, spiff.Config{Features: []string{spiff.FeatureControl, spiff.FeatureInterpolation}})
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"(( 1 ))", "((! x ))", "<<", "<<if", "key:a", "~", "yes", "2031-05-06", "0x1f", "1_000", "a: b", "- x", " lead", "x\n", "\tx",
		"é\u2028", "#c", "!t", "&a", "*a", "1e3", "", "=", "12:30:45",
	}))
	var data *rapid.Generator[any]
	data = rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			return rapid.MapOfN(text, rapid.Deferred(func() *rapid.Generator[any] { return data }), 0, 3).Draw(t, "map")
		case 1:
			return rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return data }), 0, 3).Draw(t, "list")
		case 2:
			return rapid.Int64().Draw(t, "int")
		case 3:
			return rapid.Bool().Draw(t, "bool")
		case 4:
			return nil
		}
		return text.Draw(t, "text")
	})
	rapid.Check(t, func(rt *rapid.T) {
		value := data.Draw(rt, "value")
		doc, err := spiff.FromData(map[string]any{"x": "(( v ))", "y": "(( [ v ] ))"}, "template")
		if err != nil {
			rt.Fatal(err)
		}
		result, err := engine.Process(context.Background(), doc, spiff.Input{Bindings: map[string]any{"v": value}}, spiff.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		want := any(map[string]any{"x": value, "y": []any{value}})
		if diff := cmp.Diff(want, result.Data()); diff != "" {
			rt.Fatalf("data changes (-want +got):\n%s", diff)
		}
		yamlText, err := result.YAML()
		if err != nil {
			rt.Fatal(err)
		}
		again, err := spiff.ParseData([]byte(yamlText), "output")
		if err != nil {
			rt.Fatalf("%v\n%s", err, yamlText)
		}
		if diff := cmp.Diff(want, again.Data()); diff != "" {
			rt.Fatalf("YAML output changes the data (-want +got):\n%s\n%s", diff, yamlText)
		}
	})
}
