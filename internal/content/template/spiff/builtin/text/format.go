package text

import (
	"fmt"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/builtin/call"
	"go.landscaper.dev/internal/content/template/spiff/value"
	"go.landscaper.dev/internal/content/template/spiff/yamlio"
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

// maxWidth bounds each width and precision in a format.
const maxWidth = 9999

// maxFormatted bounds the length of a result, as it is estimated before it is made.
const maxFormatted = 16 << 20

// What a verb makes at most of operands that are not strings: a number with all its digits, and a
// few words about a verb without an operand.
const (
	numberLength = 330
	verbLength   = 16
)

// Format formats the values behind the first one, which is the format.
func Format(args []value.Value) (string, error) {
	layout, ok := args[0].(value.String)
	if !ok {
		return "", fmt.Errorf("the format must be a string, not %s", value.A(args[0]))
	}
	padding, ok := widths(layout.Text)
	if !ok {
		return "", fmt.Errorf("the format has a width or precision of more than %d", maxWidth)
	}
	operands := make([]any, len(args)-1)
	longest := verbLength
	for i, a := range args[1:] {
		operand, err := formatOperand(a)
		if err != nil {
			return "", err
		}
		operands[i] = operand
		switch operand := operand.(type) {
		case string:
			longest = max(longest, len(operand))
		case int64, float64:
			longest = max(longest, numberLength)
		}
	}
	if strings.Count(layout.Text, "%")*longest+padding > maxFormatted {
		return "", fmt.Errorf("the result is too long")
	}
	return fmt.Sprintf(layout.Text, operands...), nil
}

// widths sums up the widths and precisions of a format, which make a text of any size.
// They are not ok if one is too large, or if a "*" takes it from an argument.
func widths(layout string) (total int, ok bool) {
	for _, part := range strings.Split(layout, "%")[1:] {
		number := 0
		for _, r := range part {
			if r >= '0' && r <= '9' {
				if number = number*10 + int(r-'0'); number > maxWidth {
					return 0, false
				}
				continue
			}
			if r == '*' {
				return 0, false
			}
			total, number = total+number, 0
			if !strings.ContainsRune("+-# .[]", r) {
				break
			}
		}
		total += number
	}
	return total, true
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
