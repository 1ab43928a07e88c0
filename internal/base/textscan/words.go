// Package textscan finds words in texts.
package textscan

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// HasWord reports whether a text has a word that is not a part of a longer one. Letters,
// digits and the underscore make words.
func HasWord(text, word string) bool {
	for rest := text; ; {
		at := strings.Index(rest, word)
		if at < 0 || word == "" {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(rest[:at])
		after, _ := utf8.DecodeRuneInString(rest[at+len(word):])
		if !isWordPart(before) && !isWordPart(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(rest[at:])
		rest = rest[at+size:]
	}
}

func isWordPart(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_')
}
