package data

import (
	"fmt"
	"math"
	"strconv"

	"go.landscaper.dev/internal/base/number"
	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/builtin/text"
	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
)

// Conversions are the functions that convert values and round numbers.
var Conversions = []call.Function{
	{Name: "string", Usage: "string(x [, base])", Result: "string", Min: 1, Max: 2, Run: toString,
		Doc:     "The text of a number (integers in any base from 2 to 36), boolean or string.",
		Example: `string(255, 16)`, Gives: `ff`},
	{Name: "integer", Usage: "integer(x)", Result: "int", Min: 1, Max: 1, Run: toInteger,
		Doc:     "The integer of a decimal text, a float (cut) or a boolean (1 or 0).",
		Example: `integer("42")`, Gives: `42`},
	{Name: "float", Usage: "float(x)", Result: "float", Min: 1, Max: 1, Run: toFloat,
		Doc: "The floating point number of a text, integer or boolean.", Example: `float("2.5")`, Gives: `2.5`},
	{Name: "bool", Usage: "bool(x)", Result: "bool", Min: 1, Max: 1, Run: toBool,
		Doc: "True for numbers other than 0 and the texts `1 t T true TRUE True`; false for 0, nil, the empty text " +
			"and `0 f F false FALSE False`; other texts are an error.",
		Example: `bool("t")`, Gives: `true`},
	{Name: "ceil", Usage: "ceil(x)", Result: "int", Min: 1, Max: 1, Run: rounding(math.Ceil),
		Doc: "Rounds up.", Example: `ceil(1.2)`, Gives: `2`},
	{Name: "floor", Usage: "floor(x)", Result: "int", Min: 1, Max: 1, Run: rounding(math.Floor),
		Doc: "Rounds down.", Example: `floor(1.8)`, Gives: `1`},
	{Name: "round", Usage: "round(x)", Result: "int", Min: 1, Max: 1, Run: rounding(math.Round),
		Doc: "Rounds to the nearest integer, halves away from zero.", Example: `round(2.5)`, Gives: `3`},
	{Name: "roundtoeven", Usage: "roundtoeven(x)", Result: "int", Min: 1, Max: 1, Run: rounding(math.RoundToEven),
		Doc: "Rounds to the nearest integer, halves to the even one.", Example: `roundtoeven(2.5)`, Gives: `2`},
	{Name: "abs", Usage: "abs(x)", Result: "int or float", Min: 1, Max: 1, Run: abs,
		Doc: "The absolute value.", Example: `abs(-3)`, Gives: `3`},
	{Name: "asjson", Usage: "asjson(x)", Result: "string", Min: 1, Max: 1, Run: asJSON,
		Doc: "Compact JSON with sorted keys.", Example: `asjson({"b"=1, "a"=nil})`, Gives: `{"a":null,"b":1}`},
	{Name: "asyaml", Usage: "asyaml(x)", Result: "string", Min: 1, Max: 1, Run: asYAML,
		Doc: "YAML in block style with sorted keys.", Example: `asyaml(["a"])`, Gives: "- a\n"},
}

// Math share one implementation.
var Math = []call.Function{
	mathFunction("sin", math.Sin, "sine", "0", "0"), mathFunction("cos", math.Cos, "cosine", "0", "1"),
	mathFunction("sinh", math.Sinh, "hyperbolic sine", "0", "0"),
	mathFunction("cosh", math.Cosh, "hyperbolic cosine", "0", "1"),
	mathFunction("asin", math.Asin, "inverse sine", "0", "0"), mathFunction("acos", math.Acos, "inverse cosine", "1", "0"),
	mathFunction("asinh", math.Asinh, "inverse hyperbolic sine", "0", "0"),
	mathFunction("acosh", math.Acosh, "inverse hyperbolic cosine", "1", "0"),
	mathFunction("sqrt", math.Sqrt, "square root", "9", "3"), mathFunction("exp", math.Exp, "power of e", "0", "1"),
	mathFunction("log", math.Log, "natural logarithm", "1", "0"),
	mathFunction("log10", math.Log10, "decimal logarithm", "1000", "3"),
}

func mathFunction(name string, f func(float64) float64, what, of, gives string) call.Function {
	return call.Function{
		Example: name + "(" + of + ")", Gives: gives,
		Name: name, Tier: 3, Usage: name + "(x)", Result: "float", Min: 1, Max: 1,
		Doc: fmt.Sprintf("The %s of a number. A result that is not a number is an error.", what),
		Run: func(c *call.Call) (value.Value, error) {
			x, ok := value.Number(c.Args[0])
			if !ok {
				return nil, c.Wrong(0, "a number")
			}
			result := f(x)
			if math.IsNaN(result) {
				return nil, c.Failf("result is not a number")
			}
			return value.Float(result), nil
		},
	}
}

func toString(c *call.Call) (value.Value, error) {
	base, err := c.IntOr(1, 10)
	if err != nil {
		return nil, err
	}
	if n, ok := c.Args[0].(value.Int); ok {
		if base < 2 || base > 36 {
			return nil, c.Failf("base must be between 2 and 36")
		}
		return value.Text(strconv.FormatInt(int64(n), int(base))), nil
	}
	text, ok := text.Simple(c.Args[0])
	if !ok || c.Len() > 1 {
		return nil, c.Wrong(0, "a number, boolean or string")
	}
	return value.Text(text), nil
}

func toInteger(c *call.Call) (value.Value, error) {
	switch v := c.Args[0].(type) {
	case value.Int:
		return v, nil
	case value.Float:
		return integral(c, math.Trunc(float64(v)))
	case value.Bool:
		return oneOrZero(v), nil
	case value.String:
		n, err := strconv.ParseInt(v.Text, 10, 64)
		if err != nil {
			return nil, c.Failf("%s is not a decimal integer", c.Show(v))
		}
		return value.Int(n), nil
	}
	return nil, c.Wrong(0, "a number, boolean or string")
}

// integral turns a float without fraction into an integer.
func integral(c *call.Call, f float64) (value.Value, error) {
	whole, fits := number.Whole(f)
	if !fits {
		return nil, c.Failf("number does not fit into 64 bit")
	}
	return value.Int(whole), nil
}

func oneOrZero(b value.Bool) value.Int {
	if b {
		return 1
	}
	return 0
}

func toFloat(c *call.Call) (value.Value, error) {
	switch v := c.Args[0].(type) {
	case value.Int:
		return value.Float(v), nil
	case value.Float:
		return v, nil
	case value.Bool:
		return value.Float(oneOrZero(v)), nil
	case value.String:
		f, err := strconv.ParseFloat(v.Text, 64)
		if err != nil {
			return nil, c.Failf("%s is not a number", c.Show(v))
		}
		return value.Float(f), nil
	}
	return nil, c.Wrong(0, "a number, boolean or string")
}

func toBool(c *call.Call) (value.Value, error) {
	switch v := c.Args[0].(type) {
	case value.Null:
		return value.Bool(false), nil
	case value.Bool:
		return v, nil
	case value.Int:
		return value.Bool(v != 0), nil
	case value.Float:
		return value.Bool(v != 0), nil
	case value.String:
		if v.Text == "" {
			return value.Bool(false), nil
		}
		b, err := strconv.ParseBool(v.Text)
		if err != nil {
			return nil, c.Failf("%s is not a boolean", c.Show(v))
		}
		return value.Bool(b), nil
	}
	return nil, c.Wrong(0, "a number, boolean, string or nil")
}

func rounding(f func(float64) float64) func(*call.Call) (value.Value, error) {
	return func(c *call.Call) (value.Value, error) {
		switch v := c.Args[0].(type) {
		case value.Int:
			return v, nil
		case value.Float:
			return integral(c, f(float64(v)))
		case value.Bool:
			return oneOrZero(v), nil
		}
		return nil, c.Wrong(0, "a number or boolean")
	}
}

func abs(c *call.Call) (value.Value, error) {
	switch v := c.Args[0].(type) {
	case value.Int:
		if v == math.MinInt64 {
			return nil, c.Failf("number does not fit into 64 bit")
		}
		return max(v, -v), nil
	case value.Float:
		return value.Float(math.Abs(float64(v))), nil
	}
	return nil, c.Wrong(0, "a number")
}

func asJSON(c *call.Call) (value.Value, error) {
	text, err := yamlio.JSON(c.Args[0])
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	return value.Text(text), nil
}

func asYAML(c *call.Call) (value.Value, error) {
	text, err := yamlio.YAML(c.Args[0])
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	return value.Text(text), nil
}
