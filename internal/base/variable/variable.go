// Package variable replaces the variables of files that people write, such as constructors of components.
package variable

import (
	"fmt"
	"regexp"
	"strings"
)

// variable is ${NAME}; with two dollar signs it stays as it is.
var variable = regexp.MustCompile(`\$?\$\{([^}\n]*)\}`)

// Substitute replaces the variables of a file. Lines that are
// comments are left alone.
func Substitute(text string, values map[string]string) (string, error) {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		unknown, nameless := "", false
		lines[i] = variable.ReplaceAllStringFunc(line, func(found string) string {
			if strings.HasPrefix(found, "$$") {
				return found[1:]
			}
			name, otherwise, hasDefault := withDefault(strings.TrimSpace(found[2 : len(found)-1]))
			value, defined := values[name]
			if hasDefault && value == "" {
				return otherwise
			}
			nameless = nameless || name == ""
			if !defined && unknown == "" {
				unknown = name
			}
			return value
		})
		if nameless {
			return "", fmt.Errorf("line %d: a variable has no name: write ${NAME}, or $${} for the text itself", i+1)
		}
		if unknown != "" {
			return "", fmt.Errorf("line %d: the variable ${%s} has no value: give it one with --set %s=VALUE, or write $${%s} for the text itself", i+1, unknown, unknown, unknown)
		}
	}
	return strings.Join(lines, ""), nil
}

// withDefault splits NAME:-DEFAULT. The default counts for what is empty as well.
func withDefault(text string) (name, otherwise string, has bool) {
	name, otherwise, has = strings.Cut(text, ":-")
	return strings.TrimSpace(name), otherwise, has
}
