// Package mask keeps values of users out of messages about templates. Templates
// come from a blueprint and may be shown, what they compute with may not.
package mask

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden stands in the place of a value.
const Hidden = "[...]"

const (
	// minValue is the length from which a value is looked for in a message. Shorter
	// ones are parts of ordinary words.
	minValue = 4
	// minPiece is the length from which a piece of a template is shown.
	minPiece = 3
	// maxDepth bounds the values that are looked at.
	maxDepth = 64
)

// public are bindings that describe the component and hold no data of a user.
var public = map[string]bool{"cd": true, "components": true, "blueprint": true, "blueprintDef": true, "componentDescriptorDef": true}

// Mask knows the values of bindings.
type Mask struct {
	// values in the order in which they are replaced: a shorter one may be a part
	// of a longer one.
	values []string
}

// New returns a mask for the values of the bindings of an execution.
//
// It costs a walk through all values, and is made where a message needs it: templates that
// work need none.
func New(bindings map[string]any) *Mask {
	found := map[string]bool{}
	for name, value := range bindings {
		if !public[name] {
			collect(value, found, 0)
		}
	}
	return &Mask{values: ordered(found)}
}

// Of returns a mask for everything in a value.
func Of(value any) *Mask {
	found := map[string]bool{}
	collect(value, found, 0)
	return &Mask{values: ordered(found)}
}

func ordered(found map[string]bool) []string {
	return slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
}

func collect(value any, into map[string]bool, depth int) {
	if depth > maxDepth {
		return
	}
	switch value := value.(type) {
	case string:
		// Multi-line values, such as keys, are known line by line: a message quotes one of
		// them.
		collectText(value, into)
	case int, int64, float64, json.Number:
		if digits := number(value); len(digits) >= minValue {
			into[digits] = true
		}
	case map[string]any:
		if value["kind"] == "Target" {
			// The name of a Target is not secret, its content is.
			collect(value["spec"], into, depth+1)
			return
		}
		for _, field := range value {
			collect(field, into, depth+1)
		}
	case []any:
		for _, element := range value {
			collect(element, into, depth+1)
		}
	}
}

func collectText(text string, into map[string]bool) {
	if len(text) >= minValue {
		into[base64.StdEncoding.EncodeToString([]byte(text))] = true
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) >= minValue {
			into[line] = true
		}
	}
}

func number(value any) string {
	switch value := value.(type) {
	case int:
		return strconv.Itoa(value)
	case int64:
		return strconv.FormatInt(value, 10)
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case json.Number:
		return value.String()
	}
	return ""
}

// Hide replaces values that a text repeats.
func (m *Mask) Hide(text string) string {
	for _, value := range m.values {
		text = strings.ReplaceAll(text, value, Hidden)
	}
	return text
}

// Reason returns the error of a function that knows nothing but its arguments, as
// it may be shown. Texts among the arguments that are not known from a template
// are hidden as well as all values.
func (m *Mask) Reason(err error, args []any, known func(text string) bool) string {
	var words []string
	for _, arg := range args {
		switch arg.(type) {
		case string, int64, float64, json.Number:
			if text := fmt.Sprint(arg); !known(text) {
				words = append(words, text)
			}
		}
	}
	return hideWords(m.Hide(err.Error()), words...)
}

// hideWords replaces words that a text repeats, unless they are parts of longer
// ones. Long texts are replaced everywhere.
func hideWords(text string, words ...string) string {
	for _, word := range words {
		if len(word) >= minValue {
			text = strings.ReplaceAll(text, word, Hidden)
			continue
		}
		text = hideWord(text, word)
	}
	return text
}

func hideWord(text, word string) string {
	if word == "" {
		return text
	}
	var out strings.Builder
	for {
		i := strings.Index(text, word)
		if i < 0 {
			return out.String() + text
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		out.WriteString(text[:i])
		if inWord(before) || inWord(after) {
			out.WriteString(word)
		} else {
			out.WriteString(Hidden)
		}
		text = text[i+len(word):]
	}
}

// Pieces are what a template says literally: its text and its constants, by their
// first byte and with longer ones first.
type Pieces map[byte][]string

// NewPieces takes texts and constants of templates. Constants are cut where a
// format puts values in.
func NewPieces(literals []string) Pieces {
	found := map[string]bool{}
	for _, literal := range literals {
		for line := range strings.Lines(literal) {
			for _, piece := range cut(line) {
				if piece = strings.TrimSpace(piece); len(piece) >= minPiece {
					found[piece] = true
				}
				if key, _, isField := strings.Cut(piece, ": "); isField && len(key) >= minPiece {
					found[key+":"] = true
				}
			}
		}
	}
	pieces := Pieces{}
	for _, piece := range ordered(found) {
		pieces[piece[0]] = append(pieces[piece[0]], piece)
	}
	return pieces
}

// cut cuts a format at its verbs.
func cut(format string) []string {
	var pieces []string
	for {
		before, after, found := strings.Cut(format, "%")
		pieces = append(pieces, before)
		if !found {
			return pieces
		}
		verb := strings.IndexFunc(after, func(r rune) bool { return r == '%' || unicode.IsLetter(r) })
		if verb < 0 {
			return append(pieces, after)
		}
		format = after[verb+1:]
	}
}

// Show returns of a text only what templates say literally; the rest is hidden.
// Line breaks and the white space at the beginning of a line stay.
func (m *Mask) Show(text string, pieces Pieces) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\r\n")
		rest := strings.TrimLeft(body, " \t")
		out.WriteString(body[:len(body)-len(rest)])
		out.WriteString(m.showLine(rest, pieces))
		out.WriteString(line[len(body):])
	}
	return out.String()
}

func (m *Mask) showLine(line string, pieces Pieces) string {
	var out strings.Builder
	hidden := false
	for i := 0; i < len(line); {
		piece := pieces.at(line, i)
		if piece == "" {
			_, size := utf8.DecodeRuneInString(line[i:])
			if line[i] == ' ' && !hidden {
				out.WriteByte(' ')
			} else if !hidden {
				out.WriteString(Hidden)
				hidden = true
			}
			i += size
			continue
		}
		if hidden && line[i-1] == ' ' {
			out.WriteByte(' ')
		}
		out.WriteString(piece)
		hidden = false
		i += len(piece)
	}
	return m.Hide(out.String())
}

// at returns the longest piece at a position, if no word is cut by it.
func (p Pieces) at(line string, i int) string {
	before, _ := utf8.DecodeLastRuneInString(line[:i])
	for _, piece := range p[line[i]] {
		if !strings.HasPrefix(line[i:], piece) {
			continue
		}
		first, _ := utf8.DecodeRuneInString(piece)
		last, _ := utf8.DecodeLastRuneInString(piece)
		after, _ := utf8.DecodeRuneInString(line[i+len(piece):])
		cut := adjoins(before) && inWord(first) || inWord(last) && adjoins(after)
		if !cut {
			return piece
		}
	}
	return ""
}

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// adjoins reports whether a letter next to r belongs to the same name as r.
func adjoins(r rune) bool { return inWord(r) || r == '_' || r == '-' || r == '.' }
