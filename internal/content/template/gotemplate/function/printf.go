package function

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"go.landscaper.dev/internal/base/number"
	"go.landscaper.dev/internal/content/template/gotemplate/operand"
)

// printf formats as fmt does, and numbers by what they are: %d prints 3.0 and
// %.0f prints 3.
func printf(format string, args ...any) string {
	widths := widthsIn(format)
	shown := make([]any, len(args))
	for i, arg := range args {
		shown[i] = arg
		if _, isNumber := operand.Exact(arg); isNumber && !widths[i] {
			shown[i] = formatted{arg}
		}
	}
	return fmt.Sprintf(format, shown...)
}

// widthsIn returns which arguments of a format are widths or precisions: fmt wants an integer there.
// Verbs take one argument after the other, [n] continues with another one, and * is a width.
func widthsIn(format string) map[int]bool {
	widths, next := map[int]bool{}, 0
	for {
		_, after, found := strings.Cut(format, "%")
		if !found {
			return widths
		}
		verb := flags(after, widths, &next)
		if verb < len(after) && after[verb] != '%' {
			next++
		}
		format = after[min(verb+1, len(after)):]
	}
}

// flags reads what is between % and the verb, and returns where the verb is.
func flags(text string, widths map[int]bool, next *int) int {
	i := 0
	for i < len(text) {
		switch c := text[i]; {
		case c == '[':
			end := strings.IndexByte(text[i:], ']')
			if end < 0 {
				return i
			}
			if n, err := strconv.Atoi(text[i+1 : i+end]); err == nil {
				*next = n - 1
			}
			i += end + 1
		case c == '*':
			widths[*next] = true
			*next++
			i++
		case strings.IndexByte("0123456789+-# .", c) >= 0:
			i++
		default:
			return i
		}
	}
	return i
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
