// Package construct prepares constructor files: their variables, and what is
// wrong in them.
package construct

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cli/terminal"
)

// variable is ${NAME}; with two dollar signs it stays as it is.
var variable = regexp.MustCompile(`\$?\$\{([^}\n]*)\}`)

// Substitute replaces the variables of a constructor file. Lines that are
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

// Variables collects the values of variables: those of the environment, if they
// are asked for, then those of files, then those of the command line.
func Variables(environment bool, files, given []string) (map[string]string, error) {
	values := map[string]string{}
	if environment {
		for _, entry := range os.Environ() {
			name, value, _ := strings.Cut(entry, "=")
			values[name] = value
		}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("--settings: %w", err)
		}
		value, err := yamltext.Decode(text, yamltext.DefaultLimits())
		if err != nil {
			return nil, fmt.Errorf("--settings %s: %w", file, err)
		}
		settings, isMap := value.(map[string]any)
		if !isMap && value != nil {
			return nil, fmt.Errorf("--settings %s: the file must be a map of names to values", file)
		}
		for _, name := range slices.Sorted(maps.Keys(settings)) {
			switch value := settings[name].(type) {
			case string:
				values[name] = value
			case nil, map[string]any, []any:
				return nil, fmt.Errorf("--settings %s: the value of %s must be a text, a number or a truth value", file, name)
			default:
				values[name] = fmt.Sprint(value)
			}
		}
	}
	set, err := terminal.Pairs("--set", given)
	maps.Copy(values, set)
	return values, err
}
