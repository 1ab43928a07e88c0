package commandline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// argument is one of those that a command takes.
type argument struct {
	name               string
	optional, repeated bool
}

// declared reads the arguments of a command from its line of usage, which is also what help
// shows: NAME is needed, [NAME] is not, and NAME... may be there several times. Flags and
// their values are no arguments.
func declared(use string) []argument {
	var arguments []argument
	words := strings.Fields(use)
	for i := 1; i < len(words); i++ {
		if strings.HasPrefix(words[i], "-") {
			i++ // its value
			continue
		}
		word, optional := strings.CutPrefix(words[i], "[")
		word = strings.TrimSuffix(word, "]")
		name, repeated := strings.CutSuffix(word, "...")
		arguments = append(arguments, argument{name: name, optional: optional, repeated: repeated})
	}
	return arguments
}

// Arguments checks that the arguments are those of the line of usage, and names the one that
// is missing or too much. An empty text is no argument where one is needed.
func Arguments(command *cobra.Command, given []string) error {
	arguments := declared(command.Use)
	for i, argument := range arguments {
		switch {
		case argument.optional:
		case i >= len(given):
			return Wrong(command, Missing(needed(arguments[i:])...))
		case given[i] == "":
			return Wrong(command, argument.name+" is empty")
		}
	}
	repeats := slices.ContainsFunc(arguments, func(a argument) bool { return a.repeated })
	if len(given) > len(arguments) && !repeats {
		problem := TooMuch(given[len(arguments)])
		if len(arguments) == 0 {
			problem += ": the command takes no arguments"
		}
		return Wrong(command, problem)
	}
	return nil
}

// needed are the names of those arguments that are not optional.
func needed(arguments []argument) []string {
	var names []string
	for _, argument := range arguments {
		if !argument.optional {
			names = append(names, argument.name)
		}
	}
	return names
}

// Missing says that arguments are not there.
func Missing(names ...string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0] + " is missing"
	}
	return strings.Join(names[:last], ", ") + " and " + names[last] + " are missing"
}

// TooMuch names an argument that has no place.
func TooMuch(extra string) string { return fmt.Sprintf("%q is too much", extra) }

// Wrong is the error of a command line: what is wrong with it, how it should look, and an
// example.
func Wrong(command *cobra.Command, problem string) error {
	_, arguments, _ := strings.Cut(command.Use, " ")
	text := problem + "\nUsage:   " + strings.TrimSpace(command.CommandPath()+" "+arguments)
	if example := firstExample(command); example != "" {
		text += "\nExample: " + example
	}
	return errors.New(text)
}

// firstExample is the first command of the examples, without what goes on behind it.
func firstExample(command *cobra.Command) string {
	lines := strings.Split(command.Example, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, command.Root().DisplayName()) {
			continue
		}
		for continued := true; continued && i+1 < len(lines); i++ {
			if line, continued = strings.CutSuffix(line, `\`); continued {
				line = strings.TrimSpace(line) + " " + strings.TrimSpace(lines[i+1])
			}
		}
		return line
	}
	return ""
}

// OneOf checks the single argument of a command that takes one of a few words.
func OneOf(words ...string) cobra.PositionalArgs {
	return func(command *cobra.Command, given []string) error {
		if err := Arguments(command, given); err != nil {
			return err
		}
		if !slices.Contains(words, given[0]) {
			return Wrong(command, fmt.Sprintf("invalid argument %q: choose from %s", given[0], strings.Join(words, ", ")))
		}
		return nil
	}
}
