// Package construct prepares constructor files: their variables, and what is
// wrong in them.
package construct

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"go.landscaper.dev/internal/base/yamltext"
	"go.landscaper.dev/internal/cli/terminal"
)

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
