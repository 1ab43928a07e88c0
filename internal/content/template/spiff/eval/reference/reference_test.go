package reference_test

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff"
	"go.landscaper.dev/test/language"
)

func bound() language.Language {
	return language.Language{Bindings: map[string]any{"b": "bound", "m": map[string]any{"x": 1}, "x.y": 2}}
}

func TestNames(t *testing.T) {
	bound().Renders(t, []language.Row{
		{"the nearest map that has it", "x: 1\na: {x: 2, c: {r: (( x ))}}", `{x: 1, a: {x: 2, c: {r: 2}}}`},
		{"no second try further out", "x: {p: 1}\na: {x: {q: 2}, r: (( x.p || \"none\" ))}", `{x: {p: 1}, a: {x: {q: 2}, r: none}}`},
		{"from the root", "x: 1\na: {x: 2, r: (( .x ))}", `{x: 1, a: {x: 2, r: 1}}`},
		{"a binding", "r: (( b ))", `{r: bound}`},
		{"a binding from the root", "r: (( .m.x ))", `{r: 1}`},
		{"a field hides a binding", "b: 1\nr: (( b ))", `{b: 1, r: 1}`},
		{"a field does not hide a binding from the outermost name", "b: 1\nr: (( ___.b ))", `{b: 1, r: bound}`},
		{"a field's own name is looked for further outwards", "b: (( b ))\na: {b: (( b ))}", `{b: bound, a: {b: bound}}`},
		{"lists are no scopes, maps in them are", "x: 1\nl:\n- x: 2\n  r: (( x ))\n- (( x ))", `{x: 1, l: [{x: 2, r: 2}, 1]}`},
		{"a binding with a dot in its name", "r: (( ___[\"x.y\"] ))", `{r: 2}`},
		{"skipping local names", "x: 1\nr: (( ( $x=2 ) [x, __.x] ))", `{x: 1, r: [2, 1]}`},
		{"the map around", "r: {a: 1, b: (( __.a ))}", `{r: {a: 1, b: 1}}`},
		{"itself", "f: (( &temporary (|n|->n < 1 ? 0 :n + _(n - 1)) ))\nr: (( .f(4) ))", `{r: 10}`},
		{"a name that only begins with a sign", "_x: 1\n__y: 2\nr: (( _x + __y ))", `{_x: 1, __y: 2, r: 3}`},
	})
	bound().Breaks(t, []language.Row{
		{"nowhere", "r: (( nope ))", "r *'nope' not found\n"},
		{"the message names the missing path", "a: {b: {}}\nr: (( a.b.c.d ))", "r *'a.b.c' not found\n"},
		{"a step into a text", "a: text\nr: (( a.b ))", "r *'a.b' not found\n"},
		{"a step into nil", "a: ~\nr: (( a.b ))", "r *'a.b' not found\n"},
		{"a name of a list", "a: [1]\nr: (( a.b ))", "r *'a.b' not found\n"},
		{"a position of a map", "a: {}\nr: (( a[0] ))", "r *'a.[0]' not found\n"},
		{"a position behind the end", "a: [1]\nr: (( a[1] ))", "r *'a.[1]' not found\n"},
		{"a position before the start", "a: [1]\nr: (( a[-2] ))", "r *'a.[-2]' not found\n"},
		{"what hides a binding is told", "b: {}\nr: (( b.c ))", "r *'b.c' not found (the binding of that name is hidden, use ___.b)\n"},
		{"an undefined field is not there", "a: (( ~~ ))\nr: (( a ))", "r *'a' not found\n"},
	})
}

func TestEntries(t *testing.T) {
	bound().Renders(t, []language.Row{
		{"by position, from both ends", "l: [1, 2, 3]\nr: (( [l[0], l[-1], l.[1]] ))", `{l: [1, 2, 3], r: [1, 3, 2]}`},
		{"by name", "l: [{name: a, v: 1}, {name: b, v: 2}]\nr: (( l.b.v ))", `{l: [{name: a, v: 1}, {name: b, v: 2}], r: 2}`},
		{"by another field", "l: [{id: a, v: 1}, {id: b, v: 2}]\nr: (( l.id:b.v ))", `{l: [{id: a, v: 1}, {id: b, v: 2}], r: 2}`},
		{"by the declared field", "l: [{key:id: a, v: 1}, {id: b, v: 2}]\nr: (( l.b.v ))", `{l: [{id: a, v: 1}, {id: b, v: 2}], r: 2}`},
		{"the first of two with a name", "l: [{name: a, v: 1}, {name: a, v: 2}]\nr: (( l.a.v ))", `{l: [{name: a, v: 1}, {name: a, v: 2}], r: 1}`},
		{"by a name that is computed", "l: [{name: (( \"a\" )), v: 1}]\nr: (( l.a.v ))", `{l: [{name: a, v: 1}], r: 1}`},
		{"an entry that comes from an insert", "l:\n- <<: (( k ))\n- name: b\nk: [{name: a, v: 1}]\nr: (( l.a.v ))", `{l: [{name: a, v: 1}, {name: b}], k: [{name: a, v: 1}], r: 1}`},
	})
}

func TestContext(t *testing.T) {
	l := bound()
	l.Config.Resolve = func(name string) string { return "/real/" + name }
	l.Renders(t, []language.Row{
		{"names of the document", "r: (( [__ctx.FILE, __ctx.DIR, __ctx.RESOLVED_FILE, __ctx.RESOLVED_DIR] ))", `{r: [template.yaml, ".", /real/template.yaml, /real]}`},
		{"the version", "r: (( __ctx.VERSION ))", "{r: " + spiff.Version + "}"},
		{"the place", "a: {l: [(( __ctx.PATHNAME )), (( __ctx.PATH ))]}", `{a: {l: ["a.l.[0]", [a, l, "[1]"]]}}`},
		{"the place in a keyed list", "l: [{name: k, r: (( __ctx.PATH ))}]", `{l: [{name: k, r: [l, "name:k", r]}]}`},
		{"the place of an insert key is that of the map", "a:\n  <<: (( {\"p\"=__ctx.PATHNAME} ))", `{a: {p: a}}`},
		{"bindings", "r: (( __ctx.BINDINGS.b ))", `{r: bound}`},
		{"outer documents end with the bindings", "x: 1\nr: (( merge({\"v\"=\"(( __ctx.OUTER[0].x __ctx.OUTER[-1].b ))\"}) ))", `{x: 1, r: {v: 1bound}}`},
		{"where stubs are looked at", "a: {b: (( __ctx.STUBPATH ))}", `{a: {b: [a, b]}}`},
	})
	language.Language{}.Renders(t, []language.Row{
		{"without bindings", "r: (( [__ctx.BINDINGS, defined(__ctx.OUTER)] ))", `{r: [[], false]}`},
		{"the outermost name is the root then", "x: 1\na: {x: 2, r: (( ___.x ))}", `{x: 1, a: {x: 2, r: 1}}`},
		{"a list as root", "- {x: 1, l: [{r: (( .__map.x ))}]}", `[{x: 1, l: [{r: 1}]}]`},
	})
}

func TestTags(t *testing.T) {
	bound().Renders(t, []language.Row{
		{"a value by its name", "a: (( &tag:t (1) ))\nr: (( t::. ))", `{a: 1, r: 1}`},
		{"a part of it", "a: {<<: (( &tag:t )), x: {z: 1}}\nr: (( t::x.z ))", `{a: {x: {z: 1}}, r: 1}`},
		{"a dot in front makes no difference", "a: {<<: (( &tag:t )), x: 1}\nr: (( t::.x ))", `{a: {x: 1}, r: 1}`},
		{"dots and colons are the same", "a: {<<: (( &tag:lib:v1 )), x: 1}\nr: (( lib.v1::x ))", `{a: {x: 1}, r: 1}`},
		{"a tag below the name", "a: {<<: (( &tag:lib:v1 )), x: 1}\nr: (( lib::x ))", `{a: {x: 1}, r: 1}`},
		{"the exact name wins", "a: {<<: (( &tag:lib )), x: 1}\nb: {<<: (( &tag:lib:v1 )), x: 2}\nr: (( lib::x ))", `{a: {x: 1}, b: {x: 2}, r: 1}`},
		{"the nearest level wins", "a: {<<: (( &tag:lib:a:b )), x: 1}\nb: {<<: (( &tag:lib:c )), x: 2}\nr: (( lib::x ))", `{a: {x: 1}, b: {x: 2}, r: 2}`},
		{"a tag from an expression", "a: (( tagdef(\"t\", [5]) ))\nr: (( t::. ))", `{a: [5], r: [5]}`},
		{"the current document", "x: 1\nr: (( doc.0::x ))", `{x: 1, r: 1}`},
	})
	bound().Breaks(t, []language.Row{
		{"an unknown tag", "r: (( t::x ))", "r *tag 't' not found"},
		{"a part that is missing", "a: {<<: (( &tag:t )), x: 1}\nr: (( t::y ))", "r *'t::y' not found"},
		{"two on one level", "a: {<<: (( &tag:lib:a )), x: 1}\nb: {<<: (( &tag:lib:b )), x: 2}\nr: (( lib::x ))", "r *ambiguous tag resolution for lib::x: lib.a <-> lib.b"},
		{"one name for two places", "a: (( &tag:t (1) ))\nb: (( &tag:t (2) ))", "duplicate tag"},
		{"a name with a hyphen", "a: (( tagdef(\"a-b\", 1) ))", "tagdef: invalid tag name"},
		{"a number is not a name", "a: (( tagdef(1, 1) ))", "tagdef: tag name must be a string"},
		{"an unknown scope", "a: (( tagdef(\"t\", 1, \"far\") ))", `tagdef: scope must be "local" or "global"`},
		{"a tag of a value that needs it", "a: (( &tag:t (t::.) ))", "a "},
	})
	stub := "a: (( &tag:near (1) ))\nb: (( &tag:*far (2) ))\nc: (( near::. ))"
	l := language.Language{Stubs: []string{stub}, Config: spiff.Config{Tags: map[string]any{"host": map[string]any{"x": []any{"(( 1 ))"}}}}}
	l.Renders(t, []language.Row{
		{"global tags of stubs, and those of the host, which are data", "r: (( [far::., host::x[0]] ))\nc: 0", `{r: [2, "(( 1 ))"], c: 1}`},
		{"local tags of stubs end with them", "r: (( near::. || \"none\" ))", `{r: none}`},
	})
}

// TestHostilePaths takes long ones.
func TestHostilePaths(t *testing.T) {
	path := strings.Repeat("a.", 20000) + "a"
	language.Language{}.Breaks(t, []language.Row{
		{"many steps", "r: (( " + path + " ))", "r *'a' not found"},
	})
	deep := strings.Repeat("{a: ", 300) + "1" + strings.Repeat("}", 300)
	language.Language{}.Renders(t, []language.Row{
		{"many levels", "r: (( " + strings.TrimSuffix(strings.Repeat("a.", 300), ".") + " ))\na: " + strings.TrimSuffix(strings.TrimPrefix(deep, "{a: "), "}"),
			"r: 1\na: " + strings.TrimSuffix(strings.TrimPrefix(deep, "{a: "), "}")},
	})
}
