// Package commandlinetest checks all commands of a program.
package commandlinetest

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Check gives each command too few and too many arguments, and its flags numbers below 0.
func Check(t *testing.T, root *cobra.Command) {
	t.Helper()
	checked := 0
	each(root, func(command *cobra.Command) {
		if !command.Runnable() || command.HasSubCommands() || command.Name() == "help" {
			return
		}
		checked++
		t.Run(command.CommandPath(), func(t *testing.T) {
			names := arguments(command)
			checkTooFew(t, command, names)
			checkTooMany(t, command, names)
			checkFlags(t, command)
		})
	})
	if checked == 0 {
		t.Error("the program has no commands")
	}
}

func each(command *cobra.Command, do func(*cobra.Command)) {
	do(command)
	for _, child := range command.Commands() {
		each(child, do)
	}
}

// arguments are the words of the line of usage that are neither flags nor their values.
func arguments(command *cobra.Command) []string {
	first, _, _ := strings.Cut(command.Use, " | ")
	words := strings.Fields(first)[1:]
	for i, word := range words {
		if strings.HasPrefix(word, "-") {
			return words[:i]
		}
	}
	return words
}

func checkTooFew(t *testing.T, command *cobra.Command, names []string) {
	t.Helper()
	// The three words may be written as one.
	inOne := len(names) >= 3 && names[0] == "REPOSITORY" && names[1] == "COMPONENT"
	for i, name := range names {
		if strings.HasPrefix(name, "[") || inOne && i > 0 {
			return
		}
		given := names[:i]
		wantWrong(t, command, given, strings.TrimSuffix(name, "..."))
	}
}

func checkTooMany(t *testing.T, command *cobra.Command, names []string) {
	t.Helper()
	if len(names) > 0 && strings.Contains(names[len(names)-1], "...") {
		return
	}
	given := append(append([]string{}, names...), "surplus")
	if strings.Contains(command.Use, " | ") {
		given = []string{"a", "b", "c", "surplus"}
	}
	if len(command.ValidArgs) > 0 {
		given[0] = command.ValidArgs[0]
	}
	wantWrong(t, command, given, `"surplus" is too much`)
}

// wantWrong checks that a command refuses arguments in words that help.
func wantWrong(t *testing.T, command *cobra.Command, given []string, want string) {
	t.Helper()
	err := command.ValidateArgs(given)
	if err == nil {
		t.Errorf("%q: accepted", given)
		return
	}
	for _, part := range []string{want, "\nUsage:   " + command.CommandPath()} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q: %v, want %q", given, err, part)
		}
	}
	if strings.Contains(err.Error(), "arg(s)") {
		t.Errorf("%q: the words of the library: %v", given, err)
	}
	if command.Example != "" && !strings.Contains(err.Error(), "\nExample: "+command.Root().DisplayName()) {
		t.Errorf("%q: no example: %v", given, err)
	}
}

func checkFlags(t *testing.T, command *cobra.Command) {
	t.Helper()
	negative := map[string]string{"int": "-1", "int32": "-1", "int64": "-1", "float64": "-1", "duration": "-1s"}
	command.InheritedFlags() // adds those of the parents
	command.Flags().VisitAll(func(flag *pflag.Flag) {
		value, isNumber := negative[flag.Value.Type()]
		if !isNumber {
			return
		}
		if err := command.Flags().Set(flag.Name, value); err == nil || !strings.Contains(err.Error(), `"--`+flag.Name+`"`) && !strings.Contains(err.Error(), "--"+flag.Name) {
			t.Errorf("--%s %s: %v", flag.Name, value, err)
		}
		if strings.HasPrefix(flag.Value.String(), "-") {
			t.Errorf("--%s is %s", flag.Name, flag.Value)
		}
	})
}
