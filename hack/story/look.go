package story

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Command is a command that a user can paste, with what it is for.
type Command struct{ For, Text string }

// Look is where to look further.
type Look struct {
	// Directory is where the commands are to be run.
	Directory string
	// Kubeconfig is that of the cluster that the commands are about.
	Kubeconfig string
	Commands   []Command
	// Console is the address of a console that runs; empty without one.
	Console string
}

// Address reports an address, alone in a line that is not broken, so that a terminal can open it.
func (s *Story) Address(what, address string) {
	s.Say("\n" + what)
	s.write("  " + address + "\n\n")
}

// Look reports where to look further, as lines that can be pasted together.
func (s *Story) Look(look Look) {
	var text strings.Builder
	fmt.Fprintf(&text, "  cd %s\n  export KUBECONFIG=%s\n", look.Directory, look.Path(look.Kubeconfig))
	for _, command := range look.Commands {
		fmt.Fprintf(&text, "  # %s\n  %s\n", command.For, command.Text)
	}
	if look.Console != "" {
		fmt.Fprintf(&text, "  # all of it in a browser: %s\n", look.Console)
	}
	s.write(text.String())
}

// Path writes a path as short as a command in the directory can have it.
func (l Look) Path(path string) string {
	if short, err := filepath.Rel(l.Directory, path); err == nil && filepath.IsLocal(short) {
		return short
	}
	return path
}
