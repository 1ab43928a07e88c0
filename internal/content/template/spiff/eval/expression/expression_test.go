package expression_test

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/test/language"
)

func bound() language.Language {
	return language.Language{Bindings: map[string]any{
		"l": []any{1, 2, 3}, "m": map[string]any{"x": 1, "y": map[string]any{"z": "deep"}}, "s": "text", "n": nil, "i": 1,
		"people": []any{map[string]any{"name": "ann", "age": 30}, map[string]any{"name": "bob", "age": 40}},
	}}
}

func TestLiterals(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"an empty list and map", `[[], {}]`, `[[], {}]`},
		{"what is spread", `[0, l..., l...]`, `[0, 1, 2, 3, 1, 2, 3]`},
		{"nothing to spread", `[[]...]`, `[]`},
		{"an undefined entry makes the list undefined", `[1, ~~] || "gone"`, `gone`},
		{"in a map it is nil", `{"a"=~~}`, `{a: ~}`},
		{"computed keys", `{"a" i = 1, $b = 2}`, `{a1: 1, b: 2}`},
		{"the last of two equal keys", `{"a"=1, "a"=2}`, `{a: 2}`},
		{"values see what is around, not their siblings", `{"s"=1, "t"=s}`, `{s: 1, t: text}`},
		{"up and down", `[[1..3], [3..1], [-1..1], [2..2]]`, `[[1, 2, 3], [3, 2, 1], [-1, 0, 1], [2]]`},
		{"the ends of the range of numbers", `[9223372036854775806..9223372036854775807] [-9223372036854775808..-9223372036854775807]`,
			`[9223372036854775806, 9223372036854775807, -9223372036854775808, -9223372036854775807]`},
		{"an undefined end", `[1..~~] || "gone"`, `gone`},
	})
	bound().Fails(t, []language.Row{
		{"a text is not spread", `[s...]`, "s... needs a list, not a string"},
		{"nil is not spread", `[n...]`, "n... needs a list, not nil"},
		{"a key is a text", `{1=2}`, "key 1 must be a string, not an int"},
		{"nil is not a key", `{nil=2}`, "key nil must be a string, not nil"},
		{"a range of texts", `["a".."b"]`, "range needs integers, not a string"},
		{"a range of floats", `[1.0..2]`, "range needs integers, not a float"},
		{"a range without an end", `[1..]`, "a range needs both ends"},
	})
}

func TestScopes(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"a name for the expression", `( $a=1, "b"=2 ) a + b`, `3`},
		{"a local name hides a field around", `( $s="local" ) s`, `local`},
		{"values are evaluated outside", `( $s=1, "t"=s ) t`, `text`},
		{"a scope behind another one", `( $a=1 ) ( $a=a + 1 ) a`, `2`},
		{"nothing in it", `() s`, `text`},
		{"an undefined value is nil", `( $a=~~ ) a`, `~`},
		{"a lambda takes the names with it", `(( $a=5 ) |x|->a + x)(1)`, `6`},
		{"a path into a local value", `( $a={"b"=[7]} ) a.b[0]`, `7`},
	})
	bound().Fails(t, []language.Row{
		{"a number is not a name", `( 1=2 ) s`, "must be a string, not an int"},
		{"names end with the expression", `[( $a=1 ) a, a]`, "'a' not found"},
	})
}

func TestSlices(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"both ends are in it", `l[0..1]`, `[1, 2]`},
		{"without a start", `l[..1]`, `[1, 2]`},
		{"without an end", `l[1..]`, `[2, 3]`},
		{"from the end", `l[-2..]`, `[2, 3]`},
		{"up to the end", `l[..-2]`, `[1, 2]`},
		{"both from the end", `l[-3..-2]`, `[1, 2]`},
		{"start and end computed", `l[i..i + 1]`, `[2, 3]`},
		{"a start behind the end is empty", `l[2..1]`, `[]`},
		{"behind the last entry there is nothing", `l[3..]`, `[]`},
		{"all of nothing", `[][..]`, `[]`},
		{"the rest of the chain for each", `people[0..1].name`, `[ann, bob]`},
	})
	bound().Fails(t, []language.Row{
		{"an end behind the list", `l[0..3]`, "slice leaves the list of 3 entries"},
		{"a start before the list", `l[-4..]`, "slice leaves the list of 3 entries"},
		{"ends from both sides", `l[-1..2]`, "slice mixes a start from the end with an end from the start"},
		{"the smallest number", `l[-9223372036854775808..]`, "slice leaves the list"},
		{"a map has no slices", `m[0..1]`, "a slice needs a list, not a map"},
		{"a text has no slices", `s[0..1]`, "a projection needs a list or map, not a string"},
		{"an end that is not a number", `l["a"..]`, "range needs integers, not a string"},
		{"an undefined end", `l[~~..]`, "end of a slice is undefined"},
	})
}

func TestProjections(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"a field of all", `people[*].name`, `[ann, bob]`},
		{"the entries themselves", `l[*]`, `[1, 2, 3]`},
		{"the values of a map in the order of its keys", `{"b"=1, "a"=2}[*]`, `[2, 1]`},
		{"a call for each", `[(|x|->x + 1), (|x|->x * 5)][*](3)`, `[4, 15]`},
		{"an index for each", `[[1, 2], [3, 4]][*][1]`, `[2, 4]`},
		{"inside of each other", `[[{"a"=1}], [{"a"=2}, {"a"=3}]][*][*].a`, `[[1], [2, 3]]`},
		{"of nothing", `[][*].a`, `[]`},
	})
	bound().Fails(t, []language.Row{
		{"an element without the field fails all", `[{"a"=1}, {}][*].a`, "element 1 of [{ \"a\" = 1 }, { }]: "},
		{"a number has no elements", `i[*]`, "a projection needs a list or map, not an int"},
		{"nil has no elements", `n[*].a`, "a projection needs a list or map, not nil"},
	})
}

func TestIndices(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"a key of any characters", `{"a.b"=1}["a.b"]`, `1`},
		{"a position", `l[i]`, `2`},
		{"a position from the end", `l[0 - 1]`, `3`},
		{"several steps", `m["y", "z"]`, `deep`},
		{"steps as a list", `m[["y", "z"]]`, `deep`},
		{"a name of an entry", `people["bob"].age`, `40`},
		{"from the root", `.["m"].x`, `1`},
		{"several steps from the root", `.["m", "x"]`, `1`},
		{"behind a call", `split(",", "a,b")[1]`, `b`},
		{"an undefined index is a failure that can be caught", `l[~~] || "none"`, `none`},
	})
	bound().Fails(t, []language.Row{
		{"a key that is missing", `m["q"]`, "'m.q' not found"},
		{"a position behind the end", `l[i + 2]`, "'l.[3]' not found"},
		{"a position before the start", `l[0 - 4]`, "'l.[-4]' not found"},
		{"the smallest number", `l[-9223372036854775808 + 0]`, "not found"},
		{"a position of a map", `m[0 + 0]`, "'m.[0]' not found"},
		{"a float", `l[1.0]`, "index must be a string, an integer or a list of them, not a float"},
		{"nil", `l[nil]`, "index must be a string, an integer or a list of them, not nil"},
		{"a list in a list", `m[[["y"]]]`, "index must be"},
		{"a step into a text", `s["a"]`, "'s.a' not found"},
		{"no steps at all", `m[[]...].q`, "not found"},
	})
}

func TestMappings(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"nil and undefined results are left out", `map[[1, 2, 3, 4]|x|->x == 1 ? nil :x == 2 ? ~~ :x]`, `[3, 4]`},
		{"the position", `map[["a", "b"]|p,x|->p + 1]`, `[1, 2]`},
		{"the key", `map[{"b"=1, "a"=2}|k,x|->k x]`, `[a2, b1]`},
		{"a map of a map", `map{{"b"=1, "a"=nil}|k,x|->x}`, `{b: 1}`},
		{"a map of texts", `map{["a", "b"]|p,x|->p}`, `{a: 0, b: 1}`},
		{"the last of two equal texts", `map{["a", "a"]|p,x|->p}`, `{a: 1}`},
		{"select keeps values, not results", `select[{"a"=1, "b"=0}|x|->x]`, `[1]`},
		{"select of a map as a map", `select{{"a"=1, "b"=0}|x|->x}`, `{a: 1}`},
		{"filter", `filter[l|x|->x != 2]`, `[1, 3]`},
		{"filter by position", `filter[l|p,x|->p]`, `[2, 3]`},
		{"filter of a map", `filter{m|k,x|->k == "x"}`, `{x: 1}`},
		{"a lambda from elsewhere", `( $f=|x|->x * 2 ) map[l|f]`, `[2, 4, 6]`},
		{"a lambda with a default gets the value only if it takes two", `( $f=|x,y=9|->x y ) map[["a"]|f]`, `[0a]`},
		{"a lambda of any arguments gets the value", `( $f=|x...|->length(x) ) map[["a"]|f]`, `[1]`},
		{"a sum of nothing is its start", `sum[[]|5|s,x|->s + x]`, `5`},
		{"a sum with positions", `sum[l|0|s,p,x|->s + p * x]`, `8`},
		{"a sum with keys", `sum[{"b"=1, "a"=2}|""|s,k,x|->s k x]`, `a2b1`},
		{"an undefined sum is nil", `sum[[1, 2]|0|s,x|->~~]`, `~`},
		{"an undefined source makes all undefined", `map[~~|x|->x] || "gone"`, `gone`},
	})
	bound().Fails(t, []language.Row{
		{"a text has no elements", `map["abc"|x|->x]`, "map[] needs a list or map, not a string"},
		{"nil has no elements", `sum[nil|0|s,x|->s]`, "sum[] needs a list or map, not nil"},
		{"select{} of a list", `select{[1]|x|->x}`, "select{} does not support a list"},
		{"filter{} of a list", `filter{[1]|x|->x}`, "filter{} does not support a list"},
		{"filter[] of a map", `filter[{}|x|->x]`, "filter[] does not support a map, use filter{}"},
		{"a map of numbers", `map{[1]|x|->x}`, "map{} over a list needs strings, but found an int"},
		{"three parameters", `map[l|a,b,c|->a]`, "map[] needs a lambda with 1 to 2 parameters"},
		{"no parameters", `map[l||->1]`, "map[] needs a lambda with 1 to 2 parameters"},
		{"one parameter for a sum", `sum[l|0|s|->s]`, "sum[] needs a lambda with 2 to 3 parameters"},
		{"no lambda", `map[l|s]`, "a lambda is needed, but s is a string"},
		{"the failure of one element", `map[l|x|->x / (x - 2)]`, "division by zero"},
	})
}

func TestCatch(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"a value and no message", `catch[5|v,e|->[v, e]]`, `[5, ~]`},
		{"a message and no value", `catch[1 / 0|v,e|->[v, e]]`, `[~, division by zero]`},
		{"the value only", `catch[nope|v|->v]`, `~`},
		{"undefined is no failure", `catch[~~|v,e|->[v, e]]`, `[~, ~]`},
		{"a limit is a failure", `catch[(|x|->_(x))(1)|v,e|->e != nil]`, `true`},
		{"the old form", `[catch(5), catch(1 / 0)]`, `[{valid: true, error: "", value: 5}, {valid: false, error: division by zero}]`},
		{"a message is data", `catch[error("(( 1 ))")|v,e|->e]`, `"(( 1 ))"`},
	})
	bound().Fails(t, []language.Row{
		{"no parameters", `catch[5||->1]`, "catch[] needs a lambda with 1 or 2 parameters"},
		{"three parameters", `catch[5|a,b,c|->1]`, "catch[] needs a lambda with 1 or 2 parameters"},
		{"a lambda that fails", `catch[5|v|->nope]`, "'nope' not found"},
	})
}

// TestSync has nothing to wait for, so it never does.
func TestSync(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"the value of the expression", `sync[5|v|->v == 5]`, `5`},
		{"the value of the inline condition", `sync[5|v,e|->e == nil,v + 1]`, `6`},
		{"the value of another lambda", `sync[5|v|->true|v|->v + 2]`, `7`},
		{"the old form sees fields", `sync(1 / 0, ! valid, error)`, `division by zero`},
		{"not yet is a failure that can be caught", `sync[5|v|->false] || "late"`, `late`},
	})
	bound().Fails(t, []language.Row{
		{"not yet", `sync[5|v|->false]`, "sync timeout reached"},
		{"not yet, because of a failure", `sync[1 / 0|v|->false]`, "division by zero"},
		{"a condition that is not a boolean", `sync[5|v|->v]`, "condition of sync must evaluate to bool, not int"},
		{"a condition that fails", `sync[5|v|->nope]`, "condition of sync cannot be evaluated: 'nope' not found"},
		{"a negative time", `sync[5|v|->true,v|-1]`, "timeout of sync must be a number of seconds"},
		{"a time as text", `sync[5|v|->true,v|"1"]`, "timeout of sync must be a number of seconds, not a string"},
		{"a condition with three parameters", `sync[5|a,b,c|->true]`, "condition of sync needs a lambda with 1 or 2 parameters"},
	})
}

func TestCalls(t *testing.T) {
	bound().Gives(t, []language.Row{
		{"arguments by position", `(|x,y|->x - y)(5, 3)`, `2`},
		{"arguments by name, then by position", `(|x,y|->x - y)(y=5, 3)`, `-2`},
		{"arguments by number", `(|x,y|->x - y)(2=5, 3)`, `-2`},
		{"defaults", `(|x,y=2|->x * y)(5)`, `10`},
		{"a default is evaluated where the lambda is", `( $z=1 ) ( $f=|x=z|->x ) ( $z=2 ) map[[f]|g|->(g)()]`, `[1]`},
		{"any number", `(|x,y...|->[x, y])(1, 2, 3)`, `[1, [2, 3]]`},
		{"none of any number", `(|y...|->y)()`, `[]`},
		{"any number by name", `(|y...|->y)(y=[1])`, `[1]`},
		{"what is spread", `(|x,y|->x - y)([5, 3]...)`, `2`},
		{"too few arguments give a lambda", `(|x,y|->x - y)(5)(3)`, `2`},
		{"currying by position", `(|x,y|->x - y)*(5)(3)`, `2`},
		{"currying by name", `(|x,y|->x - y)*(y=5)(3)`, `-2`},
		{"currying all", `(|x,y|->x - y)*(5, 3)()`, `2`},
		{"currying keeps defaults", `(|x,y=7|->x y)*("a")()`, `a7`},
		{"currying closes any number", `(|x,y...|->[x, y])*(1, 2)()`, `[1, [2]]`},
		{"currying a function", `join*("-", "a")("b", "c")`, `a-b-c`},
		{"an undefined argument makes the call undefined", `length(~~) || "gone"`, `gone`},
		{"an undefined argument of a lambda", `(|x|->1)(~~) || "gone"`, `gone`},
		{"a lambda that calls itself", `(|x|->x < 2 ? 1 :x * _(x - 1))(10)`, `3628800`},
		{"a lambda of a text", `(lambda "|x|->x + 1")(1)`, `2`},
		{"a lambda that is printed", `"" (|x,y=[1, "a"],z...|->{ "k" = x })`, `'lambda|x,y=[1, "a"],z...|->{ "k" = x }'`},
	})
	bound().Fails(t, []language.Row{
		{"too many arguments", `(|x|->x)(1, 2)`, "too many arguments: 1 are expected"},
		{"too few with a default", `(|x,y=1|->x)()`, `argument for parameter "x" is missing`},
		{"twice by name", `(|x,y|->x)(x=1, x=2)`, `parameter "x" is given twice`},
		{"by name and by position", `(|x,y|->x)(x=1, 2, 3)`, "too many arguments"},
		{"an unknown name", `(|x|->x)(z=1)`, `there is no parameter "z"`},
		{"number 0", `(|x|->x)(0=1)`, "parameter number 0 is out of range 1 to 1"},
		{"any number by name, but no list", `(|y...|->y)(y=1)`, `variable parameter "y" needs a list`},
		{"a text is not a function", `(s)(1)`, "only functions and lambdas can be called, but ( s ) is a string"},
		{"an unknown function", `nope(1)`, "unknown function 'nope'"},
		{"names are for lambdas only", `join(x=1)`, "join: named arguments are for lambdas only"},
		{"what looks at expressions cannot be curried", `defined*(1)`, "defined cannot be curried"},
		{"text that is not a lambda", `lambda "x"`, "text is not a lambda, it must look like |x|->x"},
		{"broken text is not a lambda", `lambda "|x"`, "text is not a lambda: parse error"},
		{"a number is not a lambda", `lambda 5`, "lambda needs a lambda or the text of one, not an int"},
		{"a failure names the call", `(|x|->x / 0)(7)`, "division by zero\n\t... evaluation of lambda|x|->x / 0 with x=7"},
		{"hostile: without an end", `(|x|->_(x))(1)`, "calls are nested deeper than 10000 levels"},
		{"hostile: twice without an end", `(|x|->_(x) + _(x))(1) || (|x|->_(x) + _(x))(1)`, "nested deeper"},
	})
}

func TestMarkers(t *testing.T) {
	language.Language{}.Renders(t, []language.Row{
		{"a marker without an expression is nil", "a: (( &state ))", `{a: ~}`},
		{"two markers", "a: (( &temporary &state (1) ))\nb: (( a ))", `{b: 1}`},
		{"in an insert key for the whole map", "a: {<<: (( &temporary )), b: 1}\nc: (( a.b ))", `{c: 1}`},
		{"in an entry for the whole list", "a: [{<<: (( &local )) }, 1]\nc: (( a[0] ))", `{c: 1}`},
		{"a value template prints with its source", "a: (( &template (b  + 1) ))", `{a: "(( &template ((b  + 1)) ))"}`},
	})
	language.Language{}.Breaks(t, []language.Row{
		{"a template of nothing", "a: (( &template ))", "a *empty template value"},
		{"what is dynamic is a template", "a: (( &dynamic (1) ))", "a *&dynamic needs a template"},
		{"an expression without brackets", "a: (( &temporary 1 ))", "a *parse error"},
		{"instantiating a text", "a: x\nb: (( *a ))", "b *template value required, but a is a string"},
		{"content that fails", "t: {<<: (( &template )), x: (( nope ))}\nu: (( *t ))", "u *resolution of template 't' failed"},
	})
	bosh := "jobs:\n- {name: a, resource_pool: p, instances: 2}\n- {name: b, resource_pool: p, instances: 3}\n- {name: c, resource_pool: q, instances: 9}\n"
	language.Language{}.Renders(t, []language.Row{
		{"the size of a pool", "resource_pools: [{name: p, size: (( auto ))}]\n" + bosh + "r: (( resource_pools.p.size ))\no: (( &temporary ))",
			"resource_pools: [{name: p, size: 5}]\nr: 5\n" + bosh},
	})
	language.Language{}.Breaks(t, []language.Row{
		{"the size of something else", "a: (( auto ))", "a *auto only allowed for the size of a resource pool"},
		{"a job without instances", "resource_pools: [{name: p, size: (( auto ))}]\njobs: [{resource_pool: p}]", "has no integer as instances"},
	})
}

// TestLimitsAreFailures meets each limit of an evaluation.
func TestLimitsAreFailures(t *testing.T) {
	tests := []struct {
		reason string
		limits spiff.Limits
		src    string
		want   string
	}{
		{"depth of calls", spiff.Limits{Depth: 10}, `(|x|->x > 20 ? x :_(x + 1))(1)`, "calls are nested deeper than 10 levels"},
		{"steps", spiff.Limits{Steps: 1000}, `sum[[1..2000]|0|s,i|->s + i]`, "evaluation takes more than 1000 steps"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			l := language.Language{Config: spiff.Config{Limits: test.limits}}
			if got, err := l.Process(t, test.src); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, %v", got, err)
			}
			if test.reason == "steps" {
				return // what is used up stays so
			}
			if got, err := l.Process(t, test.src+` || "small"`); got != "small" || err != nil {
				t.Errorf("as alternative: %v, %v", got, err)
			}
		})
	}
}
