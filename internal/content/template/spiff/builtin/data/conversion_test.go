package data_test

import (
	"testing"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
	"go.landscaper.dev/test/language"
)

func TestString(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"an integer", `string(-5)`, `"-5"`},
		{"in another base", `string(255, 16)`, `ff`},
		{"below zero in another base", `string(-255, 2)`, `"-11111111"`},
		{"the largest base", `string(35, 36)`, `z`},
		{"the base as text", `string(8, "8")`, `"10"`},
		{"a float without a fraction", `string(2.0)`, `"2"`},
		{"a float in its shortest form", `string(0.1)`, `"0.1"`},
		{"a large float has no exponent", `string(1e21)`, `"1000000000000000000000"`},
		{"a boolean", `string(false)`, `"false"`},
		{"a text stays", `string("")`, `""`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a base below 2", `string(1, 1)`, "base must be between 2 and 36"},
		{"a base above 36", `string(1, 37)`, "base must be between 2 and 36"},
		{"a base for what is no integer", `string("a", 16)`, "argument 1 must be a number, boolean or string"},
		{"nil", `string(nil)`, "argument 1 must be"},
		{"a list", `string([1])`, "argument 1 must be"},
		{"nothing", `string()`, "takes 1 to 2 arguments"},
	})
}

func TestInteger(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"a text", `integer("-42")`, `-42`},
		{"leading zeros are decimal", `integer("010")`, `10`},
		{"the largest", `integer("9223372036854775807")`, `9223372036854775807`},
		{"a float is cut towards zero", `integer(2.9) " " integer(-2.9)`, `2 -2`},
		{"the smallest float that fits", `integer(-9223372036854775808.0)`, `-9223372036854775808`},
		{"booleans", `integer(true) - integer(false)`, `1`},
		{"an integer stays", `integer(7)`, `7`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a fraction in a text", `integer("1.5")`, "is not a decimal integer"},
		{"hexadecimal", `integer("0x10")`, "is not a decimal integer"},
		{"blanks", `integer(" 1")`, "is not a decimal integer"},
		{"nothing", `integer("")`, "is not a decimal integer"},
		{"beyond 64 bit", `integer("9223372036854775808")`, "is not a decimal integer"},
		{"a float beyond 64 bit", `integer(9223372036854775808.0)`, "does not fit into 64 bit"},
		{"NaN is not an integer", `integer(float("nan"))`, "does not fit into 64 bit"},
		{"nil", `integer(nil)`, "argument 1 must be"},
		{"a list", `integer([1])`, "argument 1 must be"},
	})
}

func TestFloat(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"a text", `float("2.5")`, `2.5`},
		{"an exponent", `float("1e3")`, `1e3`},
		{"an integer", `float(2)`, `2.0`},
		{"a boolean", `float(true)`, `1.0`},
		{"a float divides with a fraction", `float(1) / 2`, `0.5`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a text that is not a number", `float("two")`, "is not a number"},
		{"an empty text", `float("")`, "is not a number"},
		{"beyond the range", `float("1e999")`, "is not a number"},
		{"nil", `float(nil)`, "argument 1 must be"},
	})
}

func TestBool(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"words for true", `[bool("1"), bool("t"), bool("T"), bool("true"), bool("TRUE"), bool("True")] == map[[1..6]|i|->true]`, `true`},
		{"words for false", `[bool("0"), bool("f"), bool("F"), bool("false"), bool("FALSE"), bool("False"), bool("")] == map[[1..7]|i|->false]`, `true`},
		{"numbers", `[bool(0), bool(-1), bool(0.0), bool(0.1)]`, `[false, true, false, true]`},
		{"nil is false", `bool(nil)`, `false`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"words of YAML only", `bool("yes")`, "is not a boolean"},
		{"mixed case", `bool("tRUE")`, "is not a boolean"},
		{"a list", `bool([])`, "argument 1 must be"},
	})
}

func TestRounding(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"up, towards zero below it", `[ceil(1.1), ceil(-1.9), ceil(2.0)]`, `[2, -1, 2]`},
		{"down", `[floor(1.9), floor(-1.1)]`, `[1, -2]`},
		{"halves away from zero", `[round(0.5), round(-0.5), round(1.5)]`, `[1, -1, 2]`},
		{"halves to the even one", `[roundtoeven(0.5), roundtoeven(1.5), roundtoeven(-2.5)]`, `[0, 2, -2]`},
		{"integers stay, also large ones", `ceil(9007199254740993)`, `9007199254740993`},
		{"booleans are numbers to compute with", `ceil(true) + floor(false)`, `1`},
		{"the absolute value", `[abs(-3), abs(3), abs(-1.5)]`, `[3, 3, 1.5]`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"a text", `round("1.5")`, "argument 1 must be a number or boolean"},
		{"too large for an integer", `ceil(1e19)`, "does not fit into 64 bit"},
		{"infinity", `floor(float("inf"))`, "does not fit into 64 bit"},
		{"the smallest integer has no absolute value", `abs(-9223372036854775808)`, "does not fit into 64 bit"},
		{"the absolute value of a boolean", `abs(true)`, "argument 1 must be a number"},
	})
}

func TestMath(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"a float comes out, also of integers", `sqrt(4) / 4`, `0.5`},
		{"the logarithm of 0 is below all numbers", `log(0) < -1e308`, `true`},
		{"powers of e end somewhere", `exp(1000) > 1e308`, `true`},
		{"log undoes exp", `round(log(exp(3)))`, `3`},
		{"inverse functions on the unit interval", `round(sin(asin(1)) * cos(acos(1)))`, `1`},
		{"the hyperbola", `round(sinh(asinh(3)) * cosh(acosh(2)))`, `6`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"the root of a negative number", `sqrt(-1)`, "sqrt: result is not a number"},
		{"a cosine beyond 1", `acos(2)`, "acos: result is not a number"},
		{"a text", `log10("10")`, "argument 1 must be a number"},
		{"nil", `sin(nil)`, "argument 1 must be a number"},
	})
}

func TestWriting(t *testing.T) {
	language.Language{}.Gives(t, []language.Row{
		{"keys are sorted, nothing is between", `asjson({"b"=[1, nil], "a"={}})`, `'{"a":{},"b":[1,null]}'`},
		{"what HTML could take for a tag", `asjson("<&>")`, `'"\u003c\u0026\u003e"'`},
		{"a float keeps its value", `asjson(1.5)`, `"1.5"`},
		{"integers have no exponent", `asjson(9223372036854775807)`, `"9223372036854775807"`},
		{"a lambda is text", `asjson(lambda |x|->x)`, `'"(( lambda|x|-\u003ex ))"'`},
		{"YAML ends with a line break", `asyaml("a")`, `"a\n"`},
		{"dashes stand below their key", `asyaml({"a"=[1, {"b"=2}]})`, `"a:\n- 1\n- b: 2\n"`},
		{"several lines are a block", `asyaml({"a"="x\ny\n"})`, `"a: |\n  x\n  y\n"`},
		{"what others take for a boolean is quoted", `asyaml(["yes", "n", "1", "~"])`, `"- \"yes\"\n- \"n\"\n- \"1\"\n- \"~\"\n"`},
		{"nothing", `asyaml([]) asyaml({}) asyaml(nil)`, `"[]\n{}\nnull\n"`},
	})
	language.Language{}.Fails(t, []language.Row{
		{"JSON has no infinity", `asjson(float("inf"))`, "JSON cannot express the number +Inf"},
		{"NaN inside of a value", `asjson({"a"=[float("nan")]})`, "JSON cannot express the number NaN"},
	})
}

// TestValuesSurviveTheWayBack writes values and reads them again.
func TestValuesSurviveTheWayBack(t *testing.T) {
	values := []string{
		`nil`, `true`, `0`, `-1`, `9223372036854775807`, `-9223372036854775808`, `1.5`, `-0.25`, `1e-7`, `1.5e300`, `[]`, `{}`, `[[]]`, `[{}]`,
		`{"a"={}}`, `{"a"=[]}`, `[nil, [nil, [nil]]]`, `{"a"=nil}`, `[[1, 2], [3]]`, `[{"a"=1, "b"=[{"c"=nil}]}]`, `{"yes"="yes", "1"="1", "~"="~"}`,
	}
	for _, text := range language.Texts(80) {
		values = append(values, syntax.Quote(text), `{`+syntax.Quote(text)+`=[`+syntax.Quote(text)+`]}`)
	}
	for _, v := range values {
		t.Run(v, func(t *testing.T) {
			for _, way := range []string{`parse(asyaml(v), "import")`, `parse(asjson(v), "import")`, `parse("- " asjson(v), "import")[0]`, `parse(asyaml([{"k"=v}]), "import")[0].k`} {
				got, err := language.Language{}.Process(t, "( $v="+v+" ) v == "+way)
				if got != true || err != nil {
					t.Errorf("%s is %v, %v", way, got, err)
				}
			}
		})
	}
}
