package function

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/base/number"
	"go.landscaper.dev/internal/content/template/gotemplate/failure"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

// printf formats as fmt does, and numbers by what they are: %d prints 3.0 and
// %.0f prints 3.
func (l *Library) printf(format string, args ...any) (string, error) {
	used := scanFormat(format, args)
	if used.width > int64(maxWidth) {
		return "", &failure.CallError{Name: "printf", Reason: fmt.Sprintf("widths and precisions add up to more than %d", maxWidth)}
	}
	estimate := int64(len(format)) + used.width
	shown := make([]any, len(args))
	for i, arg := range args {
		weight, err := l.Measure(arg)
		if err != nil {
			return "", err
		}
		digits, ok := mostDigits(arg)
		if !ok {
			return "", &failure.CallError{Name: "printf", Reason: "a " + number.TooLong}
		}
		estimate += (weight.Bytes + 8*weight.Nodes + digits) * used.times[i]
		shown[i] = arg
		if _, isNumber := operand.Exact(arg); isNumber && !used.stars[i] {
			shown[i] = formatted{arg}
		}
	}
	if estimate > l.Limits.Text {
		return "", l.Spend(estimate)
	}
	return fmt.Sprintf(format, shown...), nil
}

// mostDigits is how many digits a number has that is printed without an exponent. It is
// not ok for a literal with so many that the work to find them has no end: 1e100000000
// is short.
func mostDigits(arg any) (digits int64, ok bool) {
	const bitsOfDigit = 4
	literal, isLiteral := arg.(json.Number)
	if !isLiteral {
		f, isFloat := arg.(float64)
		if !isFloat || math.Abs(f) < 1e21 || math.IsInf(f, 0) {
			return 0, true
		}
		return int64(math.Log10(math.Abs(f))) + 1, true
	}
	if len(literal) > number.MaxDigits {
		return 0, false
	}
	exact, isNumber := number.Big(literal)
	if !isNumber || exact.Sign() == 0 {
		return 0, true
	}
	exponent := exact.MantExp(nil)
	return int64(max(exponent, 0) / 3), max(exponent, -exponent) <= bitsOfDigit*number.MaxDigits
}

// maxWidth bounds all widths and precisions of a format together.
const maxWidth = 1_000_000

// usage is how a format uses its arguments.
type usage struct {
	width int64
	times []int64 // how often an argument is printed
	stars []bool  // whether it is a width
	next  int     // the argument that the next verb takes
}

// scanFormat reads a format as fmt does: verbs take one argument after the other,
// [n] continues with another one, * is a width from an argument.
func scanFormat(format string, args []any) usage {
	u := usage{times: make([]int64, len(args)), stars: make([]bool, len(args))}
	for {
		_, after, found := strings.Cut(format, "%")
		if !found {
			break
		}
		verb := u.flags(after, args)
		if verb < len(after) && after[verb] != '%' {
			if u.next >= 0 && u.next < len(args) {
				u.times[u.next]++
			}
			u.next++
		}
		format = after[min(verb+1, len(after)):]
	}
	// Operands that a format does not use are printed behind it.
	for i := range u.times {
		u.times[i] = max(u.times[i], 1)
	}
	return u
}

// flags reads what is between % and the verb, and returns where the verb is.
func (u *usage) flags(text string, args []any) int {
	i := 0
	for i < len(text) {
		switch c := text[i]; {
		case c == '[':
			end := strings.IndexByte(text[i:], ']')
			if end < 0 {
				return i
			}
			if n, err := strconv.Atoi(text[i+1 : i+end]); err == nil {
				u.next = n - 1
			}
			i += end + 1
		case c == '*':
			u.star(args)
			i++
		case c >= '0' && c <= '9':
			rest := strings.TrimLeft(text[i:], "0123456789")
			u.add(text[i : len(text)-len(rest)])
			i = len(text) - len(rest)
		case strings.IndexByte("+-# .", c) >= 0:
			i++
		default:
			return i
		}
	}
	return i
}

func (u *usage) add(digits string) {
	width, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		width = math.MaxInt32
	}
	u.width += width
}

func (u *usage) star(args []any) {
	if u.next >= 0 && u.next < len(args) {
		u.stars[u.next] = true
		if n, ok := operand.Integer(args[u.next]); ok {
			u.width += max(n, -n)
		}
	}
	u.next++
}

// formatted is a number that prints with verbs for integers and for floats.
type formatted struct{ number any }

// Format implements fmt.Formatter.
func (f formatted) Format(state fmt.State, verb rune) {
	value := f.number
	switch verb {
	case 'e', 'E', 'f', 'F', 'g', 'G':
		value = asFloat(value)
	case 'd', 'c', 'o', 'O', 'U':
		value = asInteger(value)
	case 'v':
		if !state.Flag('#') {
			value = operand.Digits(value)
		}
	}
	fmt.Fprintf(state, fmt.FormatString(state, verb), value)
}

func asFloat(value any) any {
	if literal, isLiteral := value.(json.Number); isLiteral {
		if f, ok := number.Big(literal); ok {
			return f
		}
	}
	if f, ok := operand.Float(value); ok {
		return f
	}
	return value
}

func asInteger(value any) any {
	if n, ok := operand.Integer(value); ok {
		return n
	}
	if literal, isLiteral := value.(json.Number); isLiteral {
		if n, ok := new(big.Int).SetString(literal.String(), 10); ok {
			return n
		}
	}
	return value
}
