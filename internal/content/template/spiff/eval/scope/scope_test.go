package scope_test

import (
	"slices"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/eval/outcome"
	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// document is the level of a map whose insert key is settled.
func document(parent *scope.Level, fields *value.Map) *scope.Level {
	return &scope.Level{Parent: parent, Owner: value.New(fields), Fields: fields}
}

func locals(pairs ...any) []scope.Local {
	var list []scope.Local
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, scope.Local{Name: pairs[i].(string), Node: value.New(value.Int(pairs[i+1].(int)))})
	}
	return list
}

func TestGet(t *testing.T) {
	raw := value.MapOf("plain", value.Int(1), "active", value.Text("(( x ))"), "<<", value.Text("(( y ))"))
	unsettled := &scope.Level{Owner: value.New(raw), Raw: raw}
	settled := document(nil, value.MapOf("a", value.Int(1), "n", value.Null{}))
	for _, test := range []struct {
		reason  string
		level   *scope.Level
		name    string
		want    string // "" is not there
		waiting bool
	}{
		{"a field", settled, "a", "1", false},
		{"a field that is nil is there", settled, "n", "nil", false},
		{"no such field", settled, "b", "", false},
		{"an empty name", settled, "", "", false},
		{"what needs no evaluation is seen before the insert key is settled", unsettled, "plain", "1", false},
		{"what needs it has to wait", unsettled, "active", "", true},
		{"a lookup does not wait for another field that may come with the insert key", unsettled, "other", "", false},
		{"a local name", settled.Push(locals("x", 5)), "x", "5", false},
		{"the last of two local names, as in a scope literal", settled.Push(locals("x", 5, "x", 6)), "x", "6", false},
		{"a frame does not look further out", settled.Push(locals("x", 5)), "a", "", false},
		{"a frame without names", settled.WithSelf(value.Int(1)), "a", "", false},
		{"another view of a level has its fields", settled.Under(nil), "a", "1", false},
		{"a view of a view as well", settled.Under(nil).Under(settled), "a", "1", false},
		{"a view of a level that is not settled waits, too", unsettled.Under(nil), "active", "", true},
	} {
		t.Run(test.reason, func(t *testing.T) {
			n, err := test.level.Get(test.name)
			pending, _ := err.(*outcome.Pending) //nolint:errorlint // outcomes are never wrapped here
			if (err != nil) != test.waiting || test.waiting && (pending == nil || pending.Class != outcome.Waiting) {
				t.Fatalf("got %#v", err)
			}
			if (n != nil) != (test.want != "") || n != nil && scope.ValueText(n.Value) != test.want {
				t.Errorf("got %v", n)
			}
		})
	}
	t.Run("a view sees what the level learns later", func(t *testing.T) {
		raw := value.MapOf("active", value.Text("(( x ))"))
		level := &scope.Level{Owner: value.New(raw), Raw: raw}
		view := level.Under(nil)
		level.Fields = value.MapOf("active", value.Int(3))
		if n, err := view.Get("active"); err != nil || n == nil {
			t.Errorf("got %v, %v", n, err)
		}
	})
}

func TestLevels(t *testing.T) {
	root := document(nil, value.MapOf("r", value.Int(1)))
	inner := document(root.Push(locals("x", 1)), value.MapOf("i", value.Int(2)))
	frame := inner.Push(locals("y", 2)).WithSelf(value.Int(1))
	var none *scope.Level
	for _, test := range []struct {
		reason             string
		level              *scope.Level
		nearest, outermost *scope.Level
	}{
		{"frames are passed over", frame, inner, root},
		{"a document is its own nearest", inner, inner, root},
		{"the root is both", root, root, root},
		{"only frames", none.Push(locals("x", 1)), nil, nil},
		{"nothing at all", nil, nil, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if test.level.Document() != test.nearest || test.level.Outermost() != test.outermost {
				t.Error("another level")
			}
		})
	}
}

func TestLocals(t *testing.T) {
	root := document(nil, value.MapOf("field", value.Int(1)))
	outer := root.Push(locals("a", 1, "b", 2))
	inner := document(outer, value.MapOf("a", value.Int(99))).Push(locals("b", 3, "c", 4))
	for _, test := range []struct {
		reason string
		level  *scope.Level
		want   []string
	}{
		{"a scope without frames has no names, since fields do not count", root, nil},
		{"one frame", outer, []string{"a=1", "b=2"}},
		{"inner ones win, and a field between does not hide a local name", inner, []string{"a=1", "b=3", "c=4"}},
		{"a frame without names changes nothing", inner.WithSelf(value.Int(1)), []string{"a=1", "b=3", "c=4"}},
		{"nothing at all", nil, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			for range 2 { // the second time from what is kept
				var got []string
				for name, n := range test.level.Locals() {
					got = append(got, name+"="+scope.ValueText(n.Value))
				}
				if slices.Sort(got); !slices.Equal(got, test.want) {
					t.Errorf("got %v", got)
				}
			}
		})
	}
	t.Run("what inner frames add does not reach outer ones", func(t *testing.T) {
		if len(outer.Locals()) != 2 || outer.Locals()["c"] != nil {
			t.Errorf("got %v", outer.Locals())
		}
	})
}

// TestLexical walks from the body of a lambda to what is around its definition, and not
// to what is around its call.
func TestLexical(t *testing.T) {
	defined := document(nil, value.MapOf("place", value.Text("definition")))
	called := document(nil, value.MapOf("place", value.Text("call")))
	template := &scope.Template{Place: defined, Printed: value.Text("t")}
	free := &scope.Template{Printed: value.Text("t")}

	body := called.WithSelf(template)
	body.Names = locals("x", 1)
	for _, test := range []struct {
		reason string
		level  *scope.Level
		want   *scope.Level
		name   string
	}{
		{"outside of lambdas the chain is as it stands", called.Push(locals("y", 1)), called, "y"},
		{"inside of a lambda the chain continues at the definition, with the parameters", body, defined, "x"},
		{"frames in between stay", body.Push(locals("y", 1)), defined, "y"},
		{"a lambda that was defined at no place has no scope", called.WithSelf(free), nil, ""},
		{"only the innermost counts: its definition says what is around it", document(body, value.MapOf()).WithSelf(&scope.Template{Place: called}), called, ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := test.level.Lexical()
			if outermost := got.Outermost(); outermost != test.want {
				t.Errorf("it ends at %v", outermost)
			}
			if n := got.Locals()[test.name]; (n != nil) != (test.name != "") {
				t.Errorf("%s is %v", test.name, n)
			}
		})
	}
	if scope.Definition(value.Int(1)) != nil || scope.Definition(nil) != nil {
		t.Error("what is neither lambda nor template has a place of definition")
	}
}

func TestTemplates(t *testing.T) {
	one := &scope.Template{Printed: value.MapOf("a", value.Text("(( x ))")), Content: value.Int(1)}
	for _, test := range []struct {
		reason string
		other  value.Opaque
		same   bool
	}{
		{"itself", one, true},
		{"what counts is how it is printed, not where it was defined", &scope.Template{Printed: value.MapOf("a", value.Text("(( x ))")), Place: document(nil, value.MapOf())}, true},
		{"a template that is printed in another way", &scope.Template{Printed: value.MapOf("a", value.Text("(( y ))"))}, false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if one.Same(test.other) != test.same {
				t.Error("they are compared wrongly")
			}
		})
	}
	if shape := one.Weight(); shape.Active || shape.Open || shape.Size != 2 {
		t.Errorf("its content would be evaluated where it is printed: %+v", shape)
	}
	if one.TypeName() != "template" || lambda(t, "|x|->x").TypeName() != "lambda" || one.Plain() != one.Printed {
		t.Error("its names changed, which templates ask for with type()")
	}
}
