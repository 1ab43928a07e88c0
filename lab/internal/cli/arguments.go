package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// arguments checks that the arguments are those of the line of usage, and names the one that
// is missing or too much.
func arguments(command *cobra.Command, given []string) error {
	wanted := strings.Fields(command.Use)[1:]
	problem := ""
	switch {
	case len(given) > len(wanted):
		problem = fmt.Sprintf("%q is too much", given[len(wanted)])
	case len(given) < len(wanted):
		problem = wanted[len(given)] + " is missing"
	default:
		return nil
	}
	return fmt.Errorf("%s: write %s", problem, command.UseLine())
}
