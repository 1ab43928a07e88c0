package eval

import (
	"strconv"
	"strings"

	"go.landscaper.dev/internal/spiff/syntax"
)

// parseStep reads a step as paths print it: a name, or "[i]".
func parseStep(s string) syntax.Step {
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		if i, err := strconv.Atoi(s[1 : len(s)-1]); err == nil {
			return syntax.Step{Index: i, IsIndex: true}
		}
	}
	return syntax.Step{Key: s}
}

// stepsOf turns a path into static steps.
func stepsOf(p *path) []syntax.Step {
	texts := p.steps(true)
	steps := make([]syntax.Step, len(texts))
	i := len(texts) - 1
	for q := p; q != nil; q = q.parent {
		if q.index >= 0 && q.keyed == "" {
			steps[i] = syntax.Step{Index: q.index, IsIndex: true}
		} else {
			steps[i] = syntax.Step{Key: texts[i]}
		}
		i--
	}
	return steps
}
