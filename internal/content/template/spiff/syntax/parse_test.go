package syntax_test

import (
	"strings"
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
)

func TestCanonicalText(t *testing.T) {
	tests := []struct{ reason, src, want string }{
		{"conditions bind tighter than alternatives", `a || b ? c :d`, `a || b ? c : d`},
		{"operators stand between blanks", "a  +\n b*", ""},
		{"nil in words", `~ ~~`, `nil ~~`},
		{"list steps with a dot", `a[0].b.[-1]`, `a.[0].b.[-1]`},
		{"dynamic index", `a[b, "c"]`, `a.[b, "c"]`},
		{"paths behind calls", `f(1).a`, `(f(1)).a`},
		{"symbols are strings", `$a`, `"a"`},
		{"maps", `{$a=1,"b" c=2}`, `{ "a" = 1, "b" c = 2 }`},
		{"the empty map", `{}`, `{ }`},
		{"lambdas", `|x , y=2,z...|->x y`, `lambda|x,y=2,z...|->x y`},
		{"inline lambdas", `map[l|k,v|->v]`, `map[l|k,v|->v]`},
		{"computed functions", `filter{m|f}`, `filter{m|f}`},
		{"sums", `sum[l|0|s,x|->s + x]`, `sum[l|0|s,x|->s + x]`},
		{"templates", `*a.b`, `*(a.b)`},
		{"negation", `! a`, `!(a)`},
		{"merges", `merge  replace a.b`, `merge replace a.b`},
		{"markers", `&temporary &tag:*a:b (1)`, `&temporary &tag:*a.b (1)`},
		{"scopes", `($a=1,"b"=2) a`, `("a" = 1, "b" = 2) a`},
		{"named arguments", `x.f(b=2, 1, l...)`, `x.f(b=2, 1, l...)`},
		{"tags", `a:b::.c`, `a.b::c`},
		{"whole tags", `t::.`, `t::.`},
		{"projections", `a[*].b[1..].c`, `a.[*].b.[1..].c`},
		{"currying", `x.f*(1)`, `x.f*(1)`},
		{"addresses", `10.0.0.1 + 1`, `10.0.0.1 + 1`},
		{"names with reserved beginnings", `merged autoscale nil-x 1abc`, `merged autoscale nil-x 1abc`},
		{"a group is no call", `f (x)`, `f ( x )`},
		{"a float that is integral stays a float", `2.0 1e21`, `2.0 1e21`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			expr, err := syntax.Parse(test.src)
			if test.want == "" {
				if err == nil {
					t.Errorf("%q is accepted", test.src)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := syntax.String(expr); got != test.want {
				t.Errorf("%q prints %q", test.src, got)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	tests := []struct{ reason, src string }{
		{"operators without blanks", `a+b`}, {"one blank is not enough", `a +b`}, {"alternatives as well", `a||b`},
		{"no unary minus", `-a`}, {"single quotes", `'a'`}, {"suffixes of strings", `"a".b`},
		{"suffixes of numbers", `5[0]`}, {"a scope needs an expression", `(a=1)`}, {"an expression behind a marker", `&temporary a`},
		{"unknown markers", `&standard`}, {"a colon in a name", `c ? x:y`}, {"raw control characters", "\"a\nb\""},
		{"parameters after defaults", `|a=1,b|->a`}, {"open brackets", `f(1`}, {"integers beyond 64 bit", `9223372036854775808`},
		{"numbers that end in a point", `1.`}, {"nothing", ` `},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if expr, err := syntax.Parse(test.src); err == nil {
				t.Errorf("%q gives %s", test.src, syntax.String(expr))
			}
		})
	}
}

// TestCanonicalTextIsStable parses the canonical text again.
func TestCanonicalTextIsStable(t *testing.T) {
	for _, src := range seeds {
		expr, err := syntax.Parse(src)
		if err != nil {
			continue
		}
		first := syntax.String(expr)
		again, err := syntax.Parse(first)
		if err != nil {
			t.Errorf("%q prints %q, which is refused: %v", src, first, err)
			continue
		}
		second := syntax.String(again)
		if strings.Join(strings.Fields(second), "") != strings.Join(strings.Fields(first), "") && !strings.Contains(first, "(") {
			t.Errorf("%q prints %q and then %q", src, first, second)
		}
	}
}
