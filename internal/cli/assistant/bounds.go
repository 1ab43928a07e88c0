package assistant

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.landscaper.dev/internal/cli/terminal"
)

// The bounds of questions and answers. What comes from clusters was written by others, and may be as
// long as an object can be; an assistant has to read all of an answer.
const (
	maxRequest = 1 << 20
	// maxText bounds a single text, and maxAnswer all texts of an answer.
	maxText, maxAnswer = 1000, 48 << 10
	// around is about how much an entry takes besides its texts.
	around = 100
	// maxNotes bounds the remarks of an answer.
	maxNotes = 20
)

// budget is how many bytes an answer may still have.
type budget struct{ left int }

func newBudget() *budget { return &budget{left: maxAnswer} }

// entry counts an entry of a list, and reports whether it fits.
func (b *budget) entry() bool {
	b.left -= around
	return b.left > 0
}

// text returns a foreign text for an answer.
func (b *budget) text(text string) string {
	text = shown(text)
	b.left -= len(text)
	return text
}

// shown returns a foreign text in one line, without characters that are not seen, and not longer than
// a reader needs: an instruction to the assistant that its user cannot see would be an attack.
func shown(text string) string {
	text = strings.Map(func(char rune) rune {
		if unicode.Is(unicode.Cf, char) || unicode.Is(unicode.Co, char) {
			return -1
		}
		return char
	}, text)
	return cut(terminal.OneLine(text), maxText)
}

// cut shortens a text between two characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "… (shortened)"
}

// notes are remarks for an answer.
func notes(texts []string) []string {
	var list []string
	for _, text := range texts[:min(len(texts), maxNotes)] {
		list = append(list, shown(text))
	}
	return list
}

// lines returns a text of several lines, shortened to whole ones.
func lines(text string) string {
	var kept strings.Builder
	all := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range all {
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		line = indent + shown(line) + "\n"
		if kept.Len()+len(line) > maxAnswer {
			fmt.Fprintf(&kept, "… and %d more lines\n", len(all)-i)
			break
		}
		kept.WriteString(line)
	}
	return kept.String()
}

// limited returns a number of the question, or the one that stands for none.
func limited(asked, standard, most int) (int, error) {
	if asked < 0 || asked > most {
		return 0, fmt.Errorf("limit: must be between 1 and %d", most)
	}
	return cmp.Or(asked, standard), nil
}
