package aware_test

import (
	"testing"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/test/language"
)

func TestError(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"an error is a failure that can be caught", `error("no") || 1`, `1`},
		{"a check for definition is no failure", `defined(error("no"))`, `false`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"the message is formatted", `error("no %s, but %d", "port", 3)`, " *no port, but 3\n"},
		{"a message without operands", `error("100 %% sure")`, " *100 % sure\n"},
		{"a list is YAML", `error("%s", [1])`, " *- 1\n"},
		{"a list of arguments", `error(["%s-%s", 1, 2]...)`, "%!s(int64=1)"},
		{"a format that is not a string", `error(1)`, "the format must be a string"},
		{"nothing to say is an error as well", `error("")`, "failed without a message"},
		{"an undefined format must not crash", `error(~~)`, "undefined"},
		{"an undefined operand does not make the failure vanish", `error("no", ~~)`, "no"},
	})

	language.Language{
		Config: spiff.Config{Sensitive: true}, Bindings: map[string]any{"secret": "s3cret"},
	}.Fails(t, []language.Row{
		{"a bound value is not shown", `error("a %s", secret)`, " *a <string>\n"},
		{"a bound value is not shown behind an undefined argument", `error(~~, "%s", secret)`, " *<string>\n"},
	})
}

func TestDefinedness(t *testing.T) {
	l := language.Language{Bindings: map[string]any{"n": nil, "x": 1}}
	l.Gives(t, []language.Row{
		{"nil is defined", `defined(n)`, `true`},
		{"nil is not valid", `valid(n)`, `false`},
		{"undefined is neither", `[defined(~~), valid(~~)]`, `[false, false]`},
		{"what fails is neither", `[defined(nope), valid(1 / 0)]`, `[false, false]`},
		{"all of several", `[defined(x, n), defined(x, nope), valid(x, n)]`, `[true, false, false]`},
		{"what is spread", `defined([1, n]...)`, `true`},
		{"a value that is required", `require(x)`, `1`},
		{"nil is not enough", `require(n) || "none"`, `none`},
		{"what is optional", `optional(x, 5)`, `5`},
		{"what is not wanted is not evaluated", `optional(false, error("no")) || "gone"`, `gone`},
		{"a condition that fails is not met", `optional(nope, 1) || "gone"`, `gone`},
		{"types", `[type(n), type(x), type(1.5), type("a"), type([]), type({}), type(true), type(|x|->x), type(~~)]`,
			`[nil, int, float, string, list, map, bool, lambda, undef]`},
	})
	l.Fails(t, []language.Row{
		{"nil where a value is required", `require(n)`, "required value n is nil"},
		{"undefined where a value is required", `require(~~)`, "required value ~~ is undef"},
		{"the type of nothing", `type(nope)`, "'nope' not found"},
		{"nothing to ask for", `defined()`, "takes at least 1 argument"},
		{"two values", `require(x, x)`, "takes 1 argument"},
	})
	l.Renders(t, []language.Row{
		{"only the top has to be settled", "a: {b: (( c ))}\nc: (( defined(a) ))", `{a: {b: true}, c: true}`},
		{"the type of what is not settled inside", "a: {b: (( c ))}\nc: (( type(a) ))", `{a: {b: map}, c: map}`},
		{"the type of a template", "t: {<<: (( &template &temporary )), a: 1}\nr: (( type(t) ))", `{r: template}`},
	})
}

func TestStub(t *testing.T) {
	l := language.Language{Stubs: []string{"a: {b: stub}\nl: [{name: k, v: 1}]\nn: ~", "a: {c: second}"}}
	l.Renders(t, []language.Row{
		{"a path, which is not evaluated", "a: {b: 0}\nr: (( stub(a.b) ))", `{a: {b: stub}, r: stub}`},
		{"a text as path", "r: (( stub(\"a.b\") ))", `{r: stub}`},
		{"steps as a list", "r: (( stub([\"l\", \"[0]\", \"v\"]) ))", `{r: 1}`},
		{"an entry by name", "r: (( stub(l.k.v) ))", `{r: 1}`},
		{"the own path", "a: {b: (( \"<\" stub() \">\" ))}", `{a: {b: stub}}`},
		{"nil is there", "r: (( [stub(n)] ))", `{r: [~]}`},
		{"a path of a later stub", "r: (( stub(a.c) ))", `{r: second}`},
		{"what is missing can be caught", "r: (( stub(z) || \"none\" ))", `{r: none}`},
	})
	l.Breaks(t, []language.Row{
		{"what is missing", "r: (( stub(a.z) ))", "r *'a.z' not found in any stub"},
		{"a text that is not a path", "r: (( stub(\"a +\") ))", "stub: \"a +\" is not a path"},
		{"a number", "r: (( stub(1) ))", "stub: path must be a string or a list of steps, not an int"},
		{"a step that is a number", "r: (( stub([1]) ))", "stub: steps of the path must be strings, not an int"},
	})
}

func TestMergeAndEval(t *testing.T) {
	l := language.Language{Bindings: map[string]any{"x": 1, "evil": "(( x ))"}}
	l.Gives(t, []language.Row{
		{"later maps win, nothing is added", `merge({"a"=1, "b"={"c"=1}}, {"a"=2, "z"=9}, {"b"={"c"=3}})`, `{a: 2, b: {c: 3}}`},
		{"expressions inside see each other and what is around", `merge({"a"="(( b + x ))", "b"=5})`, `{a: 6, b: 5}`},
		{"a list of maps", `merge([{"a"=1}, {"a"=2}])`, `{a: 2}`},
		{"bound text is data inside as well", `merge({"a"=evil})`, `{a: "(( x ))"}`},
		{"an undefined map makes all undefined", `merge(~~) || "gone"`, `gone`},
		{"a text is evaluated", `eval("x + 1")`, `2`},
		{"in the scope of the call", `( $x=5 ) eval("x")`, `5`},
		{"text that evaluates text", `eval("eval(\"x\")")`, `1`},
		{"undefined stays undefined", `eval(~~) || "gone"`, `gone`},
	})
	l.Fails(t, []language.Row{
		{"a text is not a map", `merge("a")`, "merge: argument 1 must be a map or a map template, but is a string"},
		{"a list among maps", `merge({}, [1])`, "merge: argument 2 must be a map"},
		{"an empty list", `merge([])`, "merge: the list is empty"},
		{"what fails inside", `merge({"a"="(( nope ))"})`, "merge: 'nope' not found"},
		{"a broken text", `eval("1 +")`, "eval: parse error near symbol"},
		{"a number is not a string", `eval(1)`, "eval: argument must be a string, not an int"},
		{"text that fails", `eval("nope")`, "'nope' not found"},
		{"hostile: text that evaluates itself", `( $s="eval(s)" ) eval(s)`, "nested deeper"},
		{"hostile: maps that merge themselves", `( $f=|n|->merge({"a"=_(n)}) ) ( $g=f ) map[[1]|i|->(g)(1)]`, "nested deeper"},
	})
	language.Language{}.Renders(t, []language.Row{
		{"templates as maps", "t: {<<: (( &template &temporary )), a: (( b )), b: 1}\nr: (( merge(t, {\"b\"=2}) ))", `{r: {a: 2, b: 2}}`},
		{"temporary fields inside are dropped", "r: (( merge({\"a\"=\"(( &temporary (1) ))\", \"b\"=\"(( a ))\"}) ))", `{r: {b: 1}}`},
	})
}

func TestStaticIPs(t *testing.T) {
	networks := "networks:\n  net: {subnets: [{static: [10.0.0.1 - 10.0.0.3]}, {static: [10.0.1.0/31]}, {}]}\n"
	kept := "networks: {net: {subnets: [{static: [10.0.0.1 - 10.0.0.3]}, {static: [10.0.1.0/31]}, {}]}}, "
	language.Language{}.Renders(t, []language.Row{
		{"as many as there are instances", networks + "name: net\ninstances: 2\nips: (( static_ips(0, 1, 2) ))", "{" + kept + "name: net, instances: 2, ips: [10.0.0.1, 10.0.0.2]}"},
		{"over subnets, by positions in lists", networks + "name: net\ninstances: 2\nips: (( static_ips([4, [3]]) ))", "{" + kept + "name: net, instances: 2, ips: [10.0.1.1, 10.0.1.0]}"},
	})
	language.Language{}.Breaks(t, []language.Row{
		{"too few positions", networks + "name: net\ninstances: 2\nips: (( static_ips(0) ))", "2 addresses are needed, but only 1 positions are given"},
		{"an unknown network", networks + "name: other\ninstances: 1\nips: (( static_ips(0) ))", "'.networks.other' not found"},
		{"instances as text", networks + "name: net\ninstances: \"1\"\nips: (( static_ips(0) ))", "instances must be an integer, not a string"},
		{"a name that is a number", networks + "name: 1\ninstances: 1\nips: (( static_ips(0) ))", "name of the network must be a string, not an int"},
		{"a position that is a text", networks + "name: net\ninstances: 1\nips: (( static_ips(\"0\") ))", "positions must be integers or lists of them"},
	})
}
