package terminal

import (
	"bufio"
	"fmt"
	"strings"
)

// Confirm asks a person whether to go on; the error says that the answer was not yes.
// Without a terminal there is no user to ask, and scripts have always gone on.
func (s Streams) Confirm(question string, agreed bool) error {
	if agreed || !s.Terminal {
		return nil
	}
	fmt.Fprint(s.Err, question+" [y/N] ")
	answer, err := bufio.NewReader(s.In).ReadString('\n')
	if err != nil && answer == "" {
		fmt.Fprintln(s.Err)
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return Exitf(ExitFailed, "nothing was changed: the answer was not yes (--yes answers in advance)")
}
