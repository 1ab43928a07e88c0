package syntax_test

import (
	"testing"
	"time"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
)

// seeds cover every construct of the grammar at least once.
var seeds = []string{
	`a.b[0].[-1].c`, `.a`, `tag:x::a.b`, `doc.-1::.`, `a[b, "c"]...`, `x[*].a.[*].b`, `l[1..-2].n`, `.["a"]`,
	`1 + 2 * -3 / 4 % 5 - 6`, `a || b // c ? d :e`, `"x" 1 true`, `a -or b -and !c`, `a == b != c <= d >= e < f > g`,
	`10.0.0.1 + 1`, `1_000.5e-3`, `~ ~~ nil`, `$sym`, `*t`, `*(t).x`, `merge`, `merge replace a.b`, `merge on key`,
	`merge required`, `merge(a, b)`, `auto`, `|x,y=1,z...|->x y z`, `lambda |x|->x`, `lambda "|x|->x"`,
	`f(a=1, 2=3, x...)`, `f*(1)(2)`, `($a=1, "b"=2) a + b`, `{ "k"=v, $s=1 }`, `[1..5]`, `[a, b..., []]`,
	`map[l|x|->x]`, `map{m|k,v|->v}`, `select[l|f]`, `filter{m|k,v|->v}`, `sum[l|0|s,x|->s + x]`, `catch[e|v,err|->v]`,
	`sync[a|v|->v,v|10]`, `sync[a|c|v|10]`, `prefer a`, `&temporary (a)`, `&template &inject`, `&tag:*a.b (c)`,
	`c ? x || y :z // w`, `"\u00e9\n\\"`, `((((((((1))))))))`, `((! x ))`, `a b`, "a\n+\tb",
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		start := time.Now()
		expr, err := syntax.Parse(src)
		if err == nil && expr == nil || err != nil && err.Error() == "" {
			t.Fatalf("%q gives neither an expression nor a message", src)
		}
		if err == nil && len(src) < 200 { // brackets are added, so depth grows
			if _, err := syntax.Parse(syntax.String(expr)); err != nil {
				t.Fatalf("%q prints %q: %v", src, syntax.String(expr), err)
			}
		}
		if took := time.Since(start); took > time.Minute {
			t.Fatalf("parsing %d bytes takes %s", len(src), took)
		}
	})
}
