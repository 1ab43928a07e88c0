package text

import (
	"fmt"
	"strings"

	"go.landscaper.dev/internal/spiff/builtin/call"
	"go.landscaper.dev/internal/spiff/value"
	"go.landscaper.dev/internal/spiff/yamlio"
)

func format(c *call.Call) (value.Value, error) {
	if err := c.SpendWriting(c.Args...); err != nil {
		return nil, err
	}
	text, err := Format(c.Args)
	if err != nil {
		return nil, c.Failf("%w", err)
	}
	return value.Text(text), nil
}

// maxWidth bounds widths and precisions in a format.
const maxWidth = 4

// maxFormatted bounds the length of the operands of a format, counted for every
// verb.
const maxFormatted = 16 << 20

// Format formats the values behind the first one, which is the format.
func Format(args []value.Value) (string, error) {
	layout, ok := args[0].(value.String)
	if !ok {
		return "", fmt.Errorf("the format must be a string, not %s", value.A(args[0]))
	}
	if wideVerb(layout.Text) {
		return "", fmt.Errorf("the format has a width or precision of more than %d digits", maxWidth)
	}
	operands := make([]any, len(args)-1)
	longest := 0
	for i, a := range args[1:] {
		operand, err := formatOperand(a)
		if err != nil {
			return "", err
		}
		operands[i] = operand
		if text, ok := operand.(string); ok {
			longest = max(longest, len(text))
		}
	}
	if strings.Count(layout.Text, "%")*longest > maxFormatted {
		return "", fmt.Errorf("the result is too long")
	}
	return fmt.Sprintf(layout.Text, operands...), nil
}

// wideVerb finds widths that would make a text of any size. A "*" takes the
// width from an argument.
func wideVerb(layout string) bool {
	for _, part := range strings.Split(layout, "%")[1:] {
		digits := 0
		for _, r := range part {
			switch {
			case r >= '0' && r <= '9':
				if digits++; digits > maxWidth {
					return true
				}
				continue
			case r == '*':
				return true
			case strings.ContainsRune("+-# .[]", r):
				digits = 0
				continue
			}
			break
		}
	}
	return false
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
