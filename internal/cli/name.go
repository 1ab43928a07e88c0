package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

const (
	// programName is the name of the program.
	programName = "landscaper-cli"
	// kubectl finds programs whose names begin so, and offers them as its own commands.
	pluginPrefix = "kubectl-"
	// kubectl calls programs whose names begin so for proposals.
	pluginCompletionPrefix = "kubectl_complete-"
)

// invoked tells from the name of the file that was started how a user calls the
// program, and what it has to do.
func invoked(program string, args []string) (name string, arguments []string) {
	file := strings.TrimSuffix(filepath.Base(program), ".exe")
	if plugin, ok := strings.CutPrefix(file, pluginPrefix); ok {
		return "kubectl " + plugin, args
	}
	if plugin, ok := strings.CutPrefix(file, pluginCompletionPrefix); ok {
		return "kubectl " + plugin, append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	return programName, args
}

// call lets the help of a command and all below it show how the user calls the program.
func call(command *cobra.Command, name string) {
	if name == programName {
		return
	}
	if !command.HasParent() {
		command.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	}
	command.Long = strings.ReplaceAll(command.Long, programName, name)
	command.Example = strings.ReplaceAll(command.Example, programName, name)
	for _, child := range command.Commands() {
		call(child, name)
	}
}
