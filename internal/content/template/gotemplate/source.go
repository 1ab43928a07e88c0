package gotemplate

import (
	"fmt"
	"regexp"
	"strings"

	"go.landscaper.dev/internal/content/template/gotemplate/failure"
)

// Limits of nesting, which cost stack.
const (
	// maxSameNesting is how often a file may be part of itself.
	maxSameNesting = 100
	maxNesting     = 500
	// maxCalls bounds named templates that call each other.
	maxCalls = 1000
	// maxSource and maxControls bound the template itself: the parser of text/template calls
	// itself for every control structure in another, also where a blueprint is only checked.
	maxSource   = 4 << 20
	maxControls = 10_000
)

var controls = regexp.MustCompile(`\{\{-?\s*(?:if|range|with|block|else)\b`)

func checkSource(text string) error {
	if len(text) > maxSource {
		return &failure.Refusal{Reason: fmt.Sprintf("the template is longer than %d bytes", maxSource)}
	}
	if strings.Count(text, "{{") > maxControls && len(controls.FindAllStringIndex(text, maxControls+1)) > maxControls {
		return &failure.Refusal{Reason: fmt.Sprintf("the template has more than %d control structures", maxControls)}
	}
	return nil
}
