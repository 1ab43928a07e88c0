package dataflow

import (
	"strings"

	"go.landscaper.dev/internal/suggest"
)

// didYouMean proposes the name that was probably meant, as the end of a message,
// or nothing.
func didYouMean(name string, known []string) string {
	if best := suggest.Name(name, known); best != "" {
		return ": did you mean " + best + "?"
	}
	return ""
}

// enumerate lists names in a message. A long list says nothing.
func enumerate(names []string) string {
	const limit = 20
	switch {
	case len(names) == 0:
		return "nothing"
	case len(names) > limit:
		return strings.Join(names[:limit], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}
