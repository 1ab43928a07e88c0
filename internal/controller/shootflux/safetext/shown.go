// Package safetext makes foreign texts fit for statuses, events and logs. The owner of a shoot
// controls the texts of its API server and its Flux.
package safetext

import (
	"strings"
	"unicode"
)

// most is how many bytes of a text are shown.
const most = 1000

// Text returns a text in one line, limited in length and without control characters.
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
