package main

import (
	"fmt"
	"strings"
	"unicode"
)

// slugs gives headings the anchors that forges give them, so that a link in a page works on both.
type slugs struct{ used map[string]bool }

func newSlugs() *slugs { return &slugs{used: map[string]bool{}} }

// of returns the anchor of the next heading of a page.
func (s *slugs) of(text string) string {
	base := slug(text)
	name := base
	for i := 1; s.used[name]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	s.used[name] = true
	return name
}

func slug(heading string) string {
	return strings.Map(func(char rune) rune {
		switch {
		case char == ' ' || char == '-':
			return '-'
		case char == '_' || unicode.IsLetter(char) || unicode.IsNumber(char):
			return unicode.ToLower(char)
		}
		return -1
	}, strings.TrimSpace(heading))
}
