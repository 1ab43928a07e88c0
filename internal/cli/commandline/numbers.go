package commandline

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// RefuseNegative lets all flags of a command and of those below it that take a number or a
// time refuse one below 0, which none of them has a use for.
func RefuseNegative(root *cobra.Command) {
	refuse := func(flag *pflag.Flag) {
		switch flag.Value.Type() {
		case "int", "int32", "int64", "float64", "duration":
			if _, done := flag.Value.(notNegative); !done {
				flag.Value = notNegative{flag.Value}
			}
		}
	}
	root.Flags().VisitAll(refuse)
	root.PersistentFlags().VisitAll(refuse)
	for _, command := range root.Commands() {
		RefuseNegative(command)
	}
}

// notNegative is the value of a flag that may not be below 0.
type notNegative struct{ pflag.Value }

// Set implements pflag.Value.
func (v notNegative) Set(text string) error {
	before := v.String()
	if err := v.Value.Set(text); err != nil {
		return err
	}
	if strings.HasPrefix(v.String(), "-") {
		// The value of before was accepted once.
		_ = v.Value.Set(before)
		return errors.New("write a value that is not below 0")
	}
	return nil
}
