package text

import (
	"fmt"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
)

func format(c *call.Call) (value.Value, error) {
	text, err := Format(c.Args)
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	return value.Text(text), nil
}

// maxWidth bounds each width and precision in a format.
const maxWidth = 9999

// Format formats the values behind the first one, which is the format.
func Format(args []value.Value) (string, error) {
	layout, ok := args[0].(value.String)
	if !ok {
		return "", fmt.Errorf("the format must be a string, not %s", value.A(args[0]))
	}
	if !narrow(layout.Text) {
		return "", fmt.Errorf("the format has a width or precision of more than %d", maxWidth)
	}
	operands := make([]any, len(args)-1)
	for i, a := range args[1:] {
		operand, err := formatOperand(a)
		if err != nil {
			return "", err
		}
		operands[i] = operand
	}
	return fmt.Sprintf(layout.Text, operands...), nil
}

// narrow reports whether all widths and precisions of a format are written in it, and none is too
// large.
func narrow(layout string) bool {
	for _, part := range strings.Split(layout, "%")[1:] {
		number := 0
		for _, r := range part {
			if r >= '0' && r <= '9' {
				if number = number*10 + int(r-'0'); number > maxWidth {
					return false
				}
				continue
			}
			if r == '*' {
				return false
			}
			number = 0
			if !strings.ContainsRune("+-# .[]", r) {
				break
			}
		}
	}
	return true
}

func formatOperand(v value.Value) (any, error) {
	switch v := v.(type) {
	case value.Null:
		return nil, nil
	case value.Bool:
		return bool(v), nil
	case value.Int:
		return int64(v), nil
	case value.Float:
		return float64(v), nil
	case value.String:
		return v.Text, nil
	case value.Bytes:
		return string(v), nil
	case value.Opaque:
		if text, ok := v.Plain().(value.String); ok && v.TypeName() == "lambda" {
			return value.LambdaText(text.Text), nil
		}
		return yamlio.YAML(v.Plain())
	}
	return yamlio.YAML(v)
}
