package scope_test

import (
	"math"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/eval/scope"
	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/internal/content/template/spiff/value"
)

// lambda makes a lambda whose defaults are literals.
func lambda(t *testing.T, text string) *scope.Lambda {
	t.Helper()
	expr, err := syntax.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	def, ok := expr.(*syntax.Lambda)
	if !ok {
		t.Fatalf("%s is a %T", text, expr)
	}
	defaults := make([]*value.Node, len(def.Params))
	for i, p := range def.Params {
		switch literal := p.Default.(type) {
		case syntax.Int:
			defaults[i] = value.New(value.Int(literal.Value))
		case syntax.Text:
			defaults[i] = value.New(value.Text(literal.Value))
		}
	}
	return scope.NewLambda(def, defaults, map[string]*value.Node{"around": value.New(value.Int(9))}, nil)
}

func numbers(list ...int) []*value.Node {
	var nodes []*value.Node
	for _, n := range list {
		nodes = append(nodes, value.New(value.Int(n)))
	}
	return nodes
}

func named(name string, v value.Value) []scope.Named {
	return []scope.Named{{Name: name, Node: value.New(v)}}
}

// shown are locals as "name=value", one behind the other.
func shown(locals []scope.Local) string {
	var parts []string
	for _, l := range locals {
		parts = append(parts, l.Name+"="+scope.ValueText(l.Node.Value))
	}
	return strings.Join(parts, " ")
}

type arguments struct {
	reason, lambda string
	args           []*value.Node
	named          []scope.Named
	want, message  string
}

func TestBind(t *testing.T) {
	for _, test := range []arguments{
		{"each parameter takes one", "|x,y|->x", numbers(1, 2), nil, "x=1 y=2", ""},
		{"no parameters", "||->1", nil, nil, "", ""},
		{"a default for the last", "|x,y=5|->x", numbers(1), nil, "x=1 y=5", ""},
		{"an argument instead of the default", "|x,y=5|->x", numbers(1, 2), nil, "x=1 y=2", ""},
		{"by name, in any order", "|x,y|->x", numbers(1), named("x", value.Int(7)), "x=7 y=1", ""},
		{"by number, which counts from 1", "|x,y|->x", numbers(1), named("2", value.Int(7)), "x=1 y=7", ""},
		{"a name goes before a number", "|x,y|->x", numbers(1), named("y", value.Int(7)), "x=1 y=7", ""},
		{"the rest is a list", "|x,r...|->x", numbers(1, 2, 3), nil, "x=1 r=[2, 3]", ""},
		{"no rest is an empty list, not nil", "|x,r...|->x", numbers(1), nil, "x=1 r=[]", ""},
		{"the rest by name", "|x,r...|->x", numbers(1), named("r", value.ListOf(value.Int(5))), "x=1 r=[5]", ""},
		{"nil is an argument and no missing one", "|x,y=5|->x", []*value.Node{value.New(value.Int(1)), value.New(value.Null{})}, nil, "x=1 y=nil", ""},

		{"an argument is missing", "|x,y|->x", numbers(1), nil, "", `argument for parameter "y" is missing`},
		{"an argument too many", "|x|->x", numbers(1, 2), nil, "", "too many arguments: 1 are expected"},
		{"any argument for a lambda without parameters", "||->1", numbers(1), nil, "", "too many arguments: 0 are expected"},
		{"an argument by name and by position", "|x|->x", numbers(1), named("x", value.Int(7)), "", "too many arguments: 1 are expected"},
		{"an argument by name twice", "|x|->x", nil, append(named("x", value.Int(1)), named("x", value.Int(2))...), "", `parameter "x" is given twice`},
		{"an argument by name and by number", "|x|->x", nil, append(named("x", value.Int(1)), named("1", value.Int(2))...), "", `parameter "x" is given twice`},
		{"an unknown name", "|x|->x", nil, named("z", value.Int(1)), "", `there is no parameter "z"`},
		{"what is around is no parameter", "|x|->x", nil, named("around", value.Int(1)), "", `there is no parameter "around"`},
		{"number 0", "|x|->x", nil, named("0", value.Int(1)), "", "parameter number 0 is out of range 1 to 1"},
		{"a number behind the last", "|x|->x", nil, named("2", value.Int(1)), "", "parameter number 2 is out of range 1 to 1"},
		{"a number below zero", "|x|->x", nil, named("-1", value.Int(1)), "", "parameter number -1 is out of range 1 to 1"},
		{"hostile: a number beyond the numbers is a name", "|x|->x", nil, named("99999999999999999999", value.Int(1)), "", "there is no parameter"},
		{"an empty name", "|x|->x", nil, named("", value.Int(1)), "", `there is no parameter ""`},
		{"the rest by name is not a list", "|r...|->r", nil, named("r", value.Int(1)), "", `variable parameter "r" needs a list`},
		{"the rest by name and by position", "|x,r...|->x", numbers(1, 2), named("r", value.ListOf()), "", "too many arguments: 2 are expected"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got, err := lambda(t, test.lambda).Bind(test.args, test.named)
			if (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Fatalf("got %v, want %q", err, test.message)
			}
			if shown(got) != test.want {
				t.Errorf("got %s", shown(got))
			}
		})
	}
}

// TestBindTellsNoValues binds secrets in ways that are refused.
func TestBindTellsNoValues(t *testing.T) {
	secret := value.Text("s3cret")
	for _, test := range []arguments{
		{"too many", "|x|->x", value.Nodes(secret, secret), nil, "", ""},
		{"twice", "|x|->x", nil, append(named("x", secret), named("x", secret)...), "", ""},
		{"no list", "|x...|->x", nil, named("x", secret), "", ""},
		{"missing", "|x,y|->x", value.Nodes(secret), nil, "", ""},
	} {
		t.Run(test.reason, func(t *testing.T) {
			_, err := lambda(t, test.lambda).Bind(test.args, test.named)
			if err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCurry(t *testing.T) {
	for _, test := range []struct {
		arguments
		smallest, largest int
	}{
		{arguments{"the first", "|x,y|->x + y", numbers(1), nil, "(( lambda|y|->x + y ))", ""}, 1, 1},
		{arguments{"one by name", "|x,y|->x", nil, named("y", value.Int(1)), "(( lambda|x|->x ))", ""}, 1, 1},
		{arguments{"all", "|x,y|->x", numbers(1, 2), nil, "(( lambda||->x ))", ""}, 0, 0},
		{arguments{"none", "|x,y|->x", nil, nil, "(( lambda|x,y|->x ))", ""}, 2, 2},
		{arguments{"a default stays one", "|x,y=5|->x", numbers(1), nil, "(( lambda|y=5|->x ))", ""}, 0, 1},
		{arguments{"the rest stays open if nothing is given for it", "|x,r...|->x", numbers(1), nil, "(( lambda|r...|->x ))", ""}, 0, -1},
		{arguments{"the rest is bound as a whole", "|x,r...|->x", numbers(1, 2), nil, "(( lambda||->x ))", ""}, 0, 0},
		{arguments{"too many", "|x|->x", numbers(1, 2), nil, "", "too many arguments"}, 0, 0},
		{arguments{"an unknown name", "|x|->x", nil, named("z", value.Int(1)), "", "there is no parameter"}, 0, 0},
	} {
		t.Run(test.reason, func(t *testing.T) {
			whole := lambda(t, test.lambda)
			before := whole.Plain()
			got, err := whole.Curry(test.args, test.named)
			if (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Fatalf("got %v, want %q", err, test.message)
			}
			if !value.Identical(before, whole.Plain()) || len(whole.Captured) != 1 {
				t.Error("the lambda itself is another one now, though others may hold it")
			}
			if err != nil {
				return
			}
			if text := got.Plain().(value.String).Text; text != test.want {
				t.Errorf("got %s", text)
			}
			if smallest, largest := got.Arity(); smallest != test.smallest || largest != test.largest {
				t.Errorf("it takes %d to %d", smallest, largest)
			}
			if got.Captured["around"] == nil {
				t.Error("it forgot the names around its definition")
			}
		})
	}
	t.Run("twice is the same as at once", func(t *testing.T) {
		first, err := lambda(t, "|x,y,z|->x").Curry(numbers(1), nil)
		if err != nil {
			t.Fatal(err)
		}
		second, err := first.Curry(numbers(2), nil)
		if err != nil || scope.ValueText(second.Captured["x"].Value) != "1" || scope.ValueText(second.Captured["y"].Value) != "2" {
			t.Fatalf("%v: %v", second.Captured, err)
		}
		if first.Captured["y"] != nil {
			t.Error("what was bound later reached the first one")
		}
	})
}

func TestArity(t *testing.T) {
	for _, test := range []struct {
		reason, lambda    string
		smallest, largest int
		curries           []int // numbers of arguments that are a partial application
	}{
		{"none", "||->1", 0, 0, nil},
		{"two", "|x,y|->x", 2, 2, []int{0, 1}},
		{"a default may be left out, so that too few is a call", "|x,y=1|->x", 1, 2, nil},
		{"any number", "|x,r...|->x", 1, -1, nil},
		{"only the rest", "|r...|->r", 0, -1, nil},
	} {
		t.Run(test.reason, func(t *testing.T) {
			l := lambda(t, test.lambda)
			if smallest, largest := l.Arity(); smallest != test.smallest || largest != test.largest {
				t.Errorf("it takes %d to %d", smallest, largest)
			}
			var curries []int
			for given := range 4 {
				if l.AutoCurries(given) {
					curries = append(curries, given)
				}
			}
			if len(curries) != len(test.curries) {
				t.Errorf("it is applied partially with %v arguments, want %v", curries, test.curries)
			}
		})
	}
}

// TestLambdasAreTheirText compares lambdas, which are equal if they read the same.
func TestLambdasAreTheirText(t *testing.T) {
	for _, test := range []struct {
		reason, a, b string
		same         bool
	}{
		{"spaces do not count", "|x|->x + 1", "| x |->  x  +  1", true},
		{"names count", "|x|->x", "|y|->y", false},
		{"defaults count", "|x=1|->x", "|x=2|->x", false},
		{"an integer is not a string", "|x=1|->x", `|x="1"|->x`, false},
		{"the rest counts", "|x|->x", "|x...|->x", false},
	} {
		t.Run(test.reason, func(t *testing.T) {
			a, b := lambda(t, test.a), lambda(t, test.b)
			if a.Same(b) != test.same || b.Same(a) != test.same || !a.Same(a) {
				t.Errorf("%v and %v", a.Plain(), b.Plain())
			}
			if again := lambda(t, strings.TrimSuffix(strings.TrimPrefix(a.Plain().(value.String).Text, "(( lambda"), " ))")); !again.Same(a) {
				t.Errorf("what is printed is another one: %v", again.Plain())
			}
		})
	}
	template := &scope.Template{Printed: value.Text("(( &template ))")}
	if lambda(t, "|x|->x").Same(template) || template.Same(lambda(t, "|x|->x")) {
		t.Error("a template is a lambda")
	}
}

func TestShortText(t *testing.T) {
	long := strings.Repeat("ä", 10_000)
	for _, test := range []struct {
		reason, lambda, want string
	}{
		{"a short one as it is", "|x|->x", "lambda|x|->x"},
		{"a long body is cut", `|x|->"` + long + `"`, "lambda|x|->"},
		{"a long default is not even written", `|x="` + long + `"|->x`, "lambda"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			got := lambda(t, test.lambda).ShortText()
			if !strings.HasPrefix(got, test.want) || len(got) > 200 || strings.ToValidUTF8(got, "") != got {
				t.Errorf("got %d bytes: %.200q", len(got), got)
			}
		})
	}
}

func TestValueText(t *testing.T) {
	for _, test := range []struct {
		reason string
		value  value.Value
		want   string
	}{
		{"nil", value.Null{}, "nil"},
		{"a boolean", value.Bool(true), "true"},
		{"the smallest integer", value.Int(math.MinInt64), "-9223372036854775808"},
		{"a float stays one", value.Float(1), "1.0"},
		{"a text with signs of the language", value.Text("a\"b\n))"), `"a\"b\n))"`},
		{"nothing in a list", value.ListOf(), "[]"},
		{"a list", value.ListOf(value.Int(1), value.Null{}), "[1, nil]"},
		{"nothing in a map", value.MapOf(), "{ }"},
		{"a map in the order of its keys", value.MapOf("b", value.Int(2), "a", value.Int(1)), `{ "a" = 1, "b" = 2 }`},
		{"a key with signs of the language", value.MapOf(`a"b`, value.Int(1)), `{ "a\"b" = 1 }`},
		{"what has no literal is named by its type", value.Undefined{}, "<undef>"},
		{"a template as well", &scope.Template{Printed: value.Text("s3cret")}, "<template>"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := scope.ValueText(test.value); got != test.want {
				t.Errorf("got %s", got)
			}
		})
	}
}
