package settle_test

import (
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/test/language"
)

func stubbed(stubs ...string) language.Language { return language.Language{Stubs: stubs} }

func TestOverride(t *testing.T) {
	stubbed("a: stub\nm: {x: stub, new: stub}\nl: [stub]\nn: ~\nu: (( ~~ ))\no: {deep: {er: stub}}").Renders(t, []language.Row{
		{"a scalar by a scalar", "a: 1", `{a: stub}`},
		{"a scalar by a map", "m: 1", `{m: {x: stub, new: stub}}`},
		{"nil by anything", "l: ~", `{l: [stub]}`},
		{"an expression by anything", "a: (( 1 + 1 ))", `{a: stub}`},
		{"a broken expression as well", "a: (( 1 + ))", `{a: stub}`},
		{"a scalar by nil", "n: 1", `{n: ~}`},
		{"undefined does not override", "u: 1", `{u: 1}`},
		{"a map field by field, nothing is added", "m: {x: 1, y: 2}", `{m: {x: stub, "y": 2}}`},
		{"a map is never replaced", "a: {x: 1}", `{a: {x: 1}}`},
		{"a list is never replaced", "l: [1, 2]", `{l: [1, 2]}`},
		{"nothing is added to the root", "z: 1", `{z: 1}`},
		{"any depth", "o: {deep: {er: 1, est: 2}}", `{o: {deep: {er: stub, est: 2}}}`},
		{"a computed map is replaced as a whole", "m: (( {\"x\"=1, \"y\"=2} ))", `{m: {x: stub, new: stub}}`},
		{"a preferred one is merged", "m: (( prefer {\"x\"=1, \"y\"=2} ))", `{m: {x: stub, "y": 2}}`},
		{"references see the override", "a: 1\nb: (( a ))", `{a: stub, b: stub}`},
	})
	stubbed("a: first\nb: first", "a: second", "c: third").Renders(t, []language.Row{
		{"the last stub that knows it", "a: 1", `{a: second}`},
		{"a stub before others", "b: 1", `{b: first}`},
		{"the last stub", "c: 1", `{c: third}`},
	})
	stubbed("a: (( b ))\nb: 1", "b: 2").Renders(t, []language.Row{
		{"a stub is evaluated with those behind it", "a: 0", `{a: 2}`},
	})
	stubbed("a: (( nope ))").Breaks(t, []language.Row{
		{"a stub that fails", "b: 1", "a *'nope' not found"},
	})
}

func TestLists(t *testing.T) {
	stubbed("l: [{name: b, v: stub}, {name: c, v: stub}]\nid: [{id: k, v: stub}]\np: [{v: s0}, {v: s1}, {v: s2}]").Renders(t, []language.Row{
		{"entries by their name, whatever the position", "l: [{name: a, v: 1}, {name: b, v: 1}]", `{l: [{name: a, v: 1}, {name: b, v: stub}]}`},
		{"a name that is computed", "l: [{name: (( \"b\" )), v: 1}]", `{l: [{name: b, v: stub}]}`},
		{"another key field", "id: [{\"key:id\": x, v: 1}, {id: k, v: 1}]", `{id: [{id: x, v: 1}, {id: k, v: stub}]}`},
		{"by position without keys", "p: [{v: 1}, {v: 2}]", `{p: [{v: s0}, {v: s1}]}`},
		{"by position if one has no key", "p: [{name: a, v: 1}, {v: 2}]", `{p: [{name: a, v: s0}, {v: s1}]}`},
		{"by position if keys are doubled", "p: [{name: a, v: 1}, {name: a, v: 2}]", `{p: [{name: a, v: s0}, {name: a, v: s1}]}`},
		{"a scalar entry is never overridden", "p: [1, {v: 2}]", `{p: [1, {v: s1}]}`},
		{"the stub inserted in front, own entries win", "l: [{<<: (( merge ))}, {name: b, v: own}]", `{l: [{name: c, v: stub}, {name: b, v: stub}]}`},
		{"an insert of nothing", "q: [{<<: (( merge ))}, 1]", `{q: [1]}`},
		{"an insert of nil", "q: [{<<: (( ~ ))}, 1]", `{q: [1]}`},
		{"an insert of a text vanishes", "q: [{<<: (( \"x\" ))}, 1]", `{q: [1]}`},
		{"an insert in the middle", "q:\n- 0\n- <<: (( [1, 2] ))\n- 3", `{q: [0, 1, 2, 3]}`},
		{"an insert of a list that waits", "q: [{<<: (( r ))}]\nr: (( s ))\ns: [1]", `{q: [1], r: [1], s: [1]}`},
		{"a map with more than the insert key is an entry", "q:\n- <<: (( {\"a\"=1} ))\n  b: 2", `{q: [{a: 1, b: 2}]}`},
		{"an undefined entry vanishes, positions move", "q: [(( ~~ )), 1]\nr: (( q[0] ))", `{q: [1], r: 1}`},
		{"keys off by a tag", "p: [{\"key:!name\": a, v: 1}]", `{p: [{name: a, v: s0}]}`},
		{"replace takes only what the stub has", "l: [{<<: (( merge replace ))}, {name: z, v: own}]", `{l: [{name: b, v: stub}, {name: c, v: stub}]}`},
		{"an insert from elsewhere in the stub", "q: [{<<: (( merge p ))}]", `{q: [{v: s0}, {v: s1}, {v: s2}]}`},
	})
}

func TestInserts(t *testing.T) {
	stubbed("m: {x: stub, s: stub}\nother: {x: other, o: other}").Renders(t, []language.Row{
		{"own fields win", "q:\n  <<: (( {\"a\"=1, \"b\"=1} ))\n  a: own", `{q: {a: own, b: 1}}`},
		{"three signs are the same", "q:\n  <<<: (( {\"a\"=1} ))", `{q: {a: 1}}`},
		{"nil inserts nothing", "q: {<<: (( ~ )), a: 1}", `{q: {a: 1}}`},
		{"undefined makes the map undefined", "q: {<<: (( ~~ )), a: 1}\nr: 1", `{r: 1}`},
		{"a map in place", "q: {<<: {a: 1, b: (( a + 1 ))}}", `{q: {a: 1, b: 2}}`},
		{"an alias of YAML", "x: &x {a: 1}\nq: {<<: *x, b: 2}", `{x: {a: 1}, q: {a: 1, b: 2}}`},
		{"the stub adds its fields and overrides", "m: {<<: (( merge )), x: own}", `{m: {x: stub, s: stub}}`},
		{"a stub that is not there", "q: {<<: (( merge )), a: 1}", `{q: {a: 1}}`},
		{"a merge from another field, with the overrides of that field", "m: {<<: (( merge other )), x: own}", `{m: {x: other, o: other}}`},
		{"merge none switches overrides off", "m: {<<: (( merge none )), x: own}", `{m: {x: own}}`},
		{"replace drops own fields", "m: {<<: (( merge replace )), x: own, z: own}", `{m: {x: stub, s: stub}}`},
		{"a field of it", "q: (( merge m.x ))", `{q: stub}`},
		{"a value in place of a field that is missing", "q: (( merge m.nope || 5 ))", `{q: 5}`},
		{"inside of an expression", "m: {x: (( \"<\" merge \">\" ))}", `{m: {x: <stub>}}`},
		{"a map that inserts a part of itself that is settled", "a: {<<: (( .b )), c: 1}\nb: {d: 2}", `{a: {c: 1, d: 2}, b: {d: 2}}`},
		{"escaped keys are fields", "q: {<<!: 1, <<<!: 2}", `{q: {<<: 1, <<<: 2}}`},
	})
	stubbed().Breaks(t, []language.Row{
		{"both keys", "q: {<<: ~, <<<: ~}", "multiple merge keys not allowed"},
		{"a text", "q: {<<: (( \"x\" )), a: 1}", "a map can only insert a map, but the value of << is a string"},
		{"a plain text", "q: {<<: x, a: 1}", "a map can only insert a map, but the value of << is a string"},
		{"a list", "q:\n  <<: (( [1] ))\n  a: 1", "a map can only insert a map, but the value of << is a list"},
		{"a merge that is required", "q: {<<: (( merge required ))}", "'q' not found in any stub"},
		{"a map that inserts itself", "q: {<<: (( .q ))}", "@"},
		{"two maps that insert each other", "a: {<<: (( .b ))}\nb: {<<: (( .a ))}", "@"},
	})
}

func TestInjection(t *testing.T) {
	stubbed("m:\n  new: (( &inject (1) ))\n  x: (( &inject (2) ))\n  d: (( &default (3) ))\n  plain: 4\nl:\n- <<: (( &inject ))\n  v: 5").Renders(t, []language.Row{
		{"what is missing is added, what is there overridden", "m: {x: 0}", `{m: {d: 3, new: 1, x: 2}}`},
		{"a default does not override", "m: {d: 0, x: 0}", `{m: {d: 0, new: 1, x: 2}}`},
		{"not into a map that is not there", "q: {}", `{q: {}}`},
		{"not into a value that is not a map", "m: (( [1] ))", `{m: {d: 3, new: 1, plain: 4, x: 2}}`},
		{"entries at the front of a list", "l: [{v: 1}]", `{l: [{v: 5}, {v: 1}]}`},
		{"not where the stub is inserted", "m: {<<: (( merge )), x: 0}", `{m: {d: 3, new: 1, plain: 4, x: 2}}`},
	})
}

func TestTemporary(t *testing.T) {
	stubbed("a: (( &local (1) ))\nb: (( a ))").Renders(t, []language.Row{
		{"a local field of a stub does not reach the template", "a: 0\nb: 0", `{a: 0, b: 1}`},
	})
	stubbed().Renders(t, []language.Row{
		{"temporary fields and entries", "t: (( &temporary (1) ))\nl: [(( &temporary (2) )), 3]\nr: (( t + l[0] ))", `{l: [3], r: 3}`},
		{"a temporary map", "t: {<<: (( &temporary )), x: 1}\nr: (( t.x ))", `{r: 1}`},
		{"escapes lose one sign", "a: ((! x ))\nb: ((!! x ))", `{a: (( x )), b: "((! x ))"}`},
		{"only where they are one", "a: ((!x\nb: x ((! y ))", `{a: ((!x, b: x ((! y ))}`},
	})
}

func TestState(t *testing.T) {
	l := language.Language{State: "pw: (( old ))\ngone: 1"}
	result, err := l.Render(t, "pw: (( &state (\"new\") ))\nt: (( &temporary &state (2) ))\nm: {x: (( &state (3) )), y: 4}\nn: {<<: (( &state )), z: (( &temporary (5) )), w: 6}\np: (( pw ))")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(result.State()), "map[n:map[w:6] pw:(( old )) t:2]"; got != want {
		t.Errorf("state is %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(result.Data()), "map[m:map[x:3 y:4] n:map[w:6] p:(( old )) pw:(( old ))]"; got != want {
		t.Errorf("result is %s, want %s", got, want)
	}
}

func TestOrder(t *testing.T) {
	stubbed().Renders(t, []language.Row{
		{"what is needed first comes first", "a: (( b + 1 ))\nb: (( c + 1 ))\nc: 1", `{a: 3, b: 2, c: 1}`},
		{"a part of a map that waits for the reader", "a: {x: 1, y: (( c ))}\nc: (( a.x ))", `{a: {x: 1, "y": 1}, c: 1}`},
		{"an element that a sum does not need", "l: [{a: 1, b: (( s ))}, {a: 2}]\ns: (( sum[l|0|s,x|->s + x.a] ))", `{l: [{a: 1, b: 3}, {a: 2}], s: 3}`},
		{"computed text is evaluated again", "a: (( \"(( b + \" 1 \" ))\" ))\nb: 2", `{a: 3, b: 2}`},
		{"inside of computed lists as well", "a: (( [ \"(( b ))\" ] ))\nb: 2", `{a: [2], b: 2}`},
		{"an alternative waits for what is pending", "a: (( b || 1 ))\nb: (( c ))\nc: 5", `{a: 5, b: 5, c: 5}`},
	})
	stubbed().Breaks(t, []language.Row{
		{"a field that needs itself", "a: (( a ))", "a @"},
		{"two that need each other", "a: (( b ))\nb: (( a ))", "a @'b' unresolved"},
		{"an alternative is no cure", "a: (( a.b.c || b ))\nb: (( a ))", "@"},
		{"a map as a whole inside of itself", "a: {b: (( a ))}", "a.b @"},
		{"what waits for a failure is told so", "a: (( 1 / 0 ))\nb: (( a ))", "a *division by zero\nb -'a' unresolved"},
		{"text that brings itself forth", "a: (( \"(( \" \"a\" \" ))\" ))", "a @"},
	})
	var chain strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&chain, "k%04d: (( k%04d ))\n", i, i+1)
	}
	got, err := stubbed().Render(t, chain.String()+"k5000: end\n")
	if err != nil || got.Data().(map[string]any)["k0000"] != "end" {
		t.Errorf("a chain of 5000 references: %v", err)
	}
}

// TestTheOrderOfFieldsDoesNotCount gives fields other names, so that they are visited in
// another order.
func TestTheOrderOfFieldsDoesNotCount(t *testing.T) {
	const document = "one: (( two + three ))\ntwo: (( three * 2 ))\nthree: (( list[0] ))\nlist: [(( four.x )), 2]\n" +
		"four: {<<: (( five )), w: (( one || 0 ))}\nfive: {x: 7}\nsix: (( *content ))\nseven: (( map[list|e|->e + three] ))\n" +
		"content: {<<: (( &template &temporary )), v: (( two ))}\n"
	const want = "{one: 21, two: 14, three: 7, list: [7, 2], four: {x: 7, w: 21}, five: {x: 7}, six: {v: 14}, seven: [14, 9]}"
	names := []string{"one", "two", "three", "list", "four", "five", "six", "content", "seven"}
	random := language.Random()
	for range 40 {
		var renamed []string
		for i, place := range random.Perm(len(names)) {
			renamed = append(renamed, names[i], fmt.Sprintf("f%d", place))
		}
		replacer := strings.NewReplacer(renamed...)
		stubbed().Renders(t, []language.Row{{strings.Join(renamed, " "), replacer.Replace(document), replacer.Replace(want)}})
	}
}

func TestInterpolation(t *testing.T) {
	l := language.Language{Config: spiff.Config{Features: []string{spiff.FeatureInterpolation}}, Bindings: map[string]any{"x": 1, "s": "a )) b"}}
	l.Renders(t, []language.Row{
		{"parts of a text", "v: a (( x )) b (( x + 1 ))", `{v: a 1 b 2}`},
		{"brackets in a text literal do not count", "v: 'a (( \"))\" )) b'", `{v: "a )) b"}`},
		{"brackets inside of the expression", "v: a ((( x ) + 1 )) b", `{v: a 2 b}`},
		{"an escaped part", "v: a ((! x )) (( x ))", `{v: a (( x )) 1}`},
		{"an incomplete part is text", "v: a (( x", `{v: a (( x}`},
		{"a whole expression is one", "v: (( x ))", `{v: 1}`},
		{"bound text is not looked at", "v: <(( s ))>", `{v: "<a )) b>"}`},
		{"brackets around", "v: (((( x ))))", `{v: 1}`},
	})
	l.Breaks(t, []language.Row{
		{"a part that fails", "v: a (( nope ))", "v *'nope' not found"},
		{"a part that cannot be joined", "v: a (( [] ))", "v *a string cannot be joined with a list"},
	})
}
