package syntax

import (
	"strings"
)

// Describe names an expression in a message.
func Describe(expr Expr) string {
	if ref, ok := expr.(*Ref); ok {
		return RefText(ref, len(ref.Steps))
	}
	return Short(String(expr))
}

// MaxShown is the length to which values and expressions are cut in messages.
const MaxShown = 40

// Short cuts a text that is shown in a message.
func Short(s string) string {
	runes := []rune(s)
	if len(runes) <= MaxShown {
		return s
	}
	return string(runes[:MaxShown]) + "..."
}

// RefText is the text of the first n steps of a reference.
func RefText(ref *Ref, n int) string {
	text := StepsText(ref.Steps[:n])
	switch {
	case ref.Tag != "" && n == 0:
		return ref.Tag + "::."
	case ref.Tag != "":
		return ref.Tag + "::" + text
	case ref.Absolute:
		return "." + text
	}
	return text
}

// StepsText is the dotted form of static steps.
func StepsText(steps []Step) string {
	parts := make([]string, len(steps))
	for i, s := range steps {
		parts[i] = StepText(s)
	}
	return strings.Join(parts, ".")
}

// KeySteps are steps by name.
func KeySteps(names ...string) []Step {
	list := make([]Step, len(names))
	for i, n := range names {
		list[i] = Step{Key: n}
	}
	return list
}
