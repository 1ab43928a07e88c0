package place

import (
	"strconv"
	"strings"

	"go.landscaper.dev/internal/content/template/spiff/syntax"
)

// ParseStep reads a step as paths print it: a name, or "[i]".
func ParseStep(s string) syntax.Step {
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		if i, err := strconv.Atoi(s[1 : len(s)-1]); err == nil {
			return syntax.Step{Index: i, IsIndex: true}
		}
	}
	return syntax.Step{Key: s}
}

// StepsOf turns a path into static steps.
func StepsOf(p *Path) []syntax.Step {
	texts := p.Steps(true)
	steps := make([]syntax.Step, len(texts))
	i := len(texts) - 1
	for q := p; q != nil; q = q.Parent {
		if q.index >= 0 && q.keyed == "" {
			steps[i] = syntax.Step{Index: q.index, IsIndex: true}
		} else {
			steps[i] = syntax.Step{Key: texts[i]}
		}
		i--
	}
	return steps
}

// KeyStep splits a name step of a list into key field and value.
func KeyStep(step, declared string) (field, want string) {
	if field, want, ok := strings.Cut(step, ":"); ok {
		return field, want
	}
	if declared == "" {
		declared = "name"
	}
	return declared, step
}

// ListIndex resolves a position that may count from the end; -1 is outside.
func ListIndex(length, index int) int {
	if index < 0 {
		index += length
	}
	if index < 0 || index >= length {
		return -1
	}
	return index
}
