package control_test

import (
	"testing"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/test/language"
)

func controlled(stubs ...string) language.Language {
	return language.Language{Config: spiff.Config{Features: []string{spiff.FeatureControl}}, Stubs: stubs}
}

func TestIf(t *testing.T) {
	controlled().Renders(t, []language.Row{
		{"the chosen branch", "a: {<<if: (( 1 < 2 )), <<then: x, <<else: y}", `{a: x}`},
		{"the other branch", "a: {<<if: false, <<then: x, <<else: y}", `{a: y}`},
		{"a missing branch is undefined", "a: {<<if: false, <<then: x}\nb: (( a || \"none\" ))", `{b: none}`},
		{"nil is no", "a: {<<if: ~, <<then: x, <<else: y}", `{a: y}`},
		{"undefined is no", "a: {<<if: (( ~~ )), <<then: x, <<else: y}", `{a: y}`},
		{"what is not chosen may be broken", "a: {<<if: true, <<then: x, <<else: (( nope ))}", `{a: x}`},
		{"a branch that is a map", "a: {<<if: true, <<then: {b: (( c )), c: 1}}", `{a: {b: 1, c: 1}}`},
		{"an if in an if", "a: {<<if: true, <<then: {<<if: false, <<then: 1, <<else: 2}}", `{a: 2}`},
		{"in a list it is an entry", "l: [{<<if: true, <<then: x}, y]", `{l: [x, y]}`},
		{"in a list an undefined one vanishes", "l: [{<<if: false, <<then: x}, y]", `{l: [y]}`},
		{"in a list a list is spliced", "l: [{<<if: true, <<then: [1, 2]}, 3]", `{l: [1, 2, 3]}`},
		{"a path through it", "a: {<<if: true, <<then: {b: 1}}\nc: (( a.b ))", `{a: {b: 1}, c: 1}`},
		{"a marker for the result", "a: {<<: (( &temporary )), <<if: true, <<then: x}\nb: (( a ))", `{b: x}`},
		{"an escaped control is an ordinary field", "a: {<<!if: 1}", `{a: {<<if: 1}}`},
	})
	controlled().Breaks(t, []language.Row{
		{"a number is no condition", "a: {<<if: 1, <<then: x}", "<<if needs a bool, not an int"},
		{"a text is no condition", "a: {<<if: \"true\", <<then: x}", "<<if needs a bool, not a string"},
		{"regular fields", "a: {<<if: true, b: 1}", `control <<if cannot have regular fields such as "b"`},
		{"an option of another control", "a: {<<if: true, <<do: 1}", "unknown option <<do of control <<if"},
		{"two controls", "a: {<<if: true, <<switch: x}", "a map can hold only one control, but there are <<if and <<switch"},
		{"an option alone", "a: {<<then: 1}", "no control for the options <<then"},
		{"an unknown word", "a: {<<unless: true}", "no control for the options <<unless"},
		{"a condition that fails", "a: {<<if: (( nope )), <<then: 1}", "'nope' not found"},
		{"a branch that fails", "a: {<<if: true, <<then: (( nope ))}", "'nope' not found"},
		{"a condition that waits for the result", "a: {<<if: (( a == 1 )), <<then: 1}", "@"},
	})
	language.Language{}.Renders(t, []language.Row{
		{"without the feature they are fields", "a: {<<if: true, <<then: x}", `{a: {<<if: true, <<then: x}}`},
	})
}

func TestSwitch(t *testing.T) {
	controlled().Renders(t, []language.Row{
		{"a field by its name", "a: {<<switch: x, x: 1, y: 2}", `{a: 1}`},
		{"the default", "a: {<<switch: z, x: 1, <<default: 3}", `{a: 3}`},
		{"nil takes the default", "a: {<<switch: ~, x: 1, <<default: 3}", `{a: 3}`},
		{"undefined is undefined", "a: {<<switch: (( ~~ )), x: 1, <<default: 3}\nb: 1", `{b: 1}`},
		{"only the chosen field is evaluated", "a: {<<switch: x, x: 1, y: (( nope ))}", `{a: 1}`},
		{"fields see each other", "a: {<<switch: x, x: (( y + 1 )), y: 2}", `{a: 3}`},
		{"cases of any type", "a:\n  <<switch: [1]\n  <<cases:\n  - {case: 1, value: int}\n  - {case: [1], value: list}", `{a: list}`},
		{"a case is equal in its type", "a:\n  <<switch: \"1\"\n  <<cases:\n  - {case: 1, value: int}\n  <<default: other", `{a: other}`},
		{"the first case that fits", "a:\n  <<switch: 5\n  <<cases:\n  - {match: (( |x|->x > 3 )), value: large}\n  - {case: 5, value: five}", `{a: large}`},
		{"a case without a value is undefined", "a:\n  <<switch: 1\n  <<cases: [{case: 1}]\nb: 1", `{b: 1}`},
		{"a case behind the first that fits may be broken", "a:\n  <<switch: 1\n  <<cases:\n  - {case: 1, value: x}\n  - {case: (( nope ))}", `{a: x}`},
		{"cases from elsewhere", "a: {<<switch: 1, <<cases: (( c ))}\nc: [{case: 1, value: x}]", `{a: x, c: [{case: 1, value: x}]}`},
		{"types", "a: {<<type: (( v )), list: L, map: M, <<default: D}\nv: []", `{a: L, v: []}`},
		{"the type of nil takes the default", "a: {<<type: ~, nil: N, <<default: D}", `{a: D}`},
	})
	controlled().Breaks(t, []language.Row{
		{"no case and no default", "a: {<<switch: z, x: 1}", `no case for "z", and no default`},
		{"a number selects no field", "a: {<<switch: 1, x: 1}", "<<switch with fields needs a string, not an int"},
		{"cases and fields", "a: {<<switch: x, <<cases: [{case: x}], y: 1}", "cannot have regular fields"},
		{"cases that are not a list", "a: {<<switch: x, <<cases: x}", "<<cases must be a list, not a string"},
		{"a case that is not a map", "a: {<<switch: x, <<cases: [x]}", "case 0 must be a map, not a string"},
		{"a case without a question", "a: {<<switch: x, <<cases: [{value: 1}]}", "case 0 requires the field case or match"},
		{"an unknown field of a case", "a: {<<switch: x, <<cases: [{case: x, then: 1}]}", `case 0 has the unknown field "then"`},
		{"a lambda that fails", "a: {<<switch: x, <<cases: [{match: (( |x|->nope ))}]}", "'nope' not found"},
		{"no case and nothing else", "a: {<<switch: 1, <<cases: []}", "no case for 1, and no default"},
	})
}

func TestFor(t *testing.T) {
	controlled().Renders(t, []language.Row{
		{"a list of results", "a: {<<for: {x: [1, 2]}, <<do: (( x + 1 ))}", `{a: [2, 3]}`},
		{"two ranges, the first name is outermost", "a: {<<for: {y: [1, 2], x: [a, b]}, <<do: (( x y ))}", `{a: [a1, a2, b1, b2]}`},
		{"ranges in the order of a list", "a: {<<for: [{name: z, values: [1, 2]}, {name: x, values: [a, b]}], <<do: (( x z ))}", `{a: [a1, b1, a2, b2]}`},
		{"a position by its default name", "a: {<<for: {x: [a, b]}, <<do: (( index-x x ))}", `{a: [0a, 1b]}`},
		{"a position by another name", "a: {<<for: {\"i,x\": [a, b]}, <<do: (( i x ))}", `{a: [0a, 1b]}`},
		{"a position in a list of ranges", "a: {<<for: [{name: x, index: i, values: [a]}], <<do: (( i x ))}", `{a: [0a]}`},
		{"keys of a map", "a: {<<for: {\"k,v\": {b: 1, a: 2}}, <<do: (( k v ))}", `{a: [a2, b1]}`},
		{"a map of results", "a: {<<for: {x: [a, b]}, <<mapkey: (( \"k\" x )), <<do: (( x ))}", `{a: {ka: a, kb: b}}`},
		{"the last of two equal keys", "a: {<<for: {x: [1, 2]}, <<mapkey: k, <<do: (( x ))}", `{a: {k: 2}}`},
		{"an undefined key is left out", "a:\n  <<for: {x: [1, 2]}\n  <<mapkey: (( x == 1 ? ~~ :\"k\" ))\n  <<do: (( x ))", `{a: {k: 2}}`},
		{"an undefined body is left out, nil is kept", "a:\n  <<for: {x: [1, 2, 3]}\n  <<do: (( x == 1 ? ~~ :x == 2 ? ~ :x ))", `{a: [~, 3]}`},
		{"an empty range", "a: {<<for: {x: []}, <<do: (( x ))}", `{a: []}`},
		{"an empty range inside of another", "a: {<<for: {x: [1, 2], y: []}, <<do: (( x ))}", `{a: []}`},
		{"an empty range with keys", "a: {<<for: {x: []}, <<mapkey: k, <<do: 1}", `{a: {}}`},
		{"no range at all is one turn", "a: {<<for: {}, <<do: 1}", `{a: [1]}`},
		{"a body that is a map", "a: {<<for: {x: [1, 2]}, <<do: {n: (( x )), m: (( n ))}}", `{a: [{n: 1, m: 1}, {n: 2, m: 2}]}`},
		{"a for in a for", "a: {<<for: {x: [1, 2]}, <<do: {<<for: {y: [3]}, <<do: (( x + y ))}}", `{a: [[4], [5]]}`},
		{"in a list it is spliced", "l: [0, {<<for: {x: [1, 2]}, <<do: (( x ))}]", `{l: [0, 1, 2]}`},
		{"a range that has to wait", "a: {<<for: {x: (( b ))}, <<do: (( x ))}\nb: (( c ))\nc: [1]", `{a: [1], b: [1], c: [1]}`},
	})
	controlled().Breaks(t, []language.Row{
		{"no body", "a: {<<for: {x: [1]}}", "control <<for needs the option <<do"},
		{"a text is no range", "a: {<<for: {x: abc}, <<do: 1}", `range "x" of <<for must be a list or map, not a string`},
		{"a text is no set of ranges", "a: {<<for: abc, <<do: 1}", "<<for needs a map or list of ranges, not a string"},
		{"a range without a name", "a: {<<for: [{values: [1]}], <<do: 1}", "range 0 of <<for needs the field name"},
		{"a range without values", "a: {<<for: [{name: x}], <<do: 1}", `range "x" of <<for must be a list or map, not undefined`},
		{"a range that is not a map", "a: {<<for: [x], <<do: 1}", "range 0 of <<for must be a map, not a string"},
		{"a key that is a number", "a: {<<for: {x: [1]}, <<mapkey: (( x )), <<do: 1}", "<<mapkey must be a string, not an int"},
		{"a body that fails", "a: {<<for: {x: [1]}, <<do: (( nope ))}", "'nope' not found"},
	})
}

func TestMerge(t *testing.T) {
	controlled().Renders(t, []language.Row{
		{"fields of the map override", "a: {<<merge: {x: 1, z: 3}, x: 0, y: 2}", `{a: {x: 1, "y": 2, z: 3}}`},
		{"later maps win", "a: {<<merge: [{x: 1}, {x: 2}], x: 0}", `{a: {x: 2}}`},
		{"nil and undefined maps do nothing", "a: {<<merge: [~, {y: 1}], x: 0}", `{a: {x: 0, "y": 1}}`},
		{"nothing to merge", "a: {<<merge: ~, x: 0}", `{a: {x: 0}}`},
		{"what is overridden may be broken", "a: {<<merge: {x: 1}, x: (( nope ))}", `{a: {x: 1}}`},
	})
	controlled().Breaks(t, []language.Row{
		{"a text is not a map", "a: {<<merge: x}", "<<merge needs a map or a list of maps, not a string"},
		{"an entry that is not a map", "a: {<<merge: [{}, 1]}", "<<merge needs a map or a list of maps, not an int"},
	})
	controlled("a: stub\nb: {x: stub}\nc: [{name: n, v: stub}]").Renders(t, []language.Row{
		{"a simple result is overridden like a literal", "a: {<<if: true, <<then: x}", `{a: stub}`},
		{"a map field by field", "b: {<<if: true, <<then: {x: 1, y: 2}}", `{b: {x: stub, "y": 2}}`},
		{"a choice that no stub knows", "d: {<<if: true, <<then: x}", `{d: x}`},
	})
}
