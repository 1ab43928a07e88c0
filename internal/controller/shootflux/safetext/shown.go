// Package safetext makes what others have written fit to be shown in statuses, events and
// logs. The owner of a shoot decides what its API server and its Flux say.
package safetext

import (
	"strings"
	"unicode"
)

// most is how much of a text is shown, in bytes.
const most = 1000

// Text returns a text in one line that is not too long and does nothing to a terminal.
func Text(text string) string {
	whole := len(text) <= most
	if !whole {
		text = text[:most]
	}
	text = strings.Map(func(char rune) rune {
		switch {
		case unicode.IsSpace(char):
			return ' '
		case !unicode.IsPrint(char):
			return -1
		}
		return char
	}, strings.ToValidUTF8(text, ""))
	if !whole {
		text += "..."
	}
	return text
}
