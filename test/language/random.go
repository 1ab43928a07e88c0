package language

import "math/rand/v2"

// runes are characters that mean something to YAML, to expressions or to a path, and
// some of any width.
var runes = []rune("ab01 \n\t\r\"'\\:#-,.[]{}()<>&*!|%@`$/~=?_éß漢\u2028\u0085\u007f\U0001f600")

// Texts are texts of up to a dozen characters, the same for every run: first those that
// are easily taken for something else, then random ones.
func Texts(n int) []string {
	list := []string{
		"", " ", "\n", "~", "null", "yes", "1", "1.0", "0x1f", "1e3", "2031-05-06", "12:30:45", "-", "- a", "a: b", "a #b", "#",
		"key:a", "<<", "=", ".nan", " a", "a ", "a\n", "a\n\n", "\na", "a\n b", "a\r\nb", "---", "...", "%", "\x7f", "'", `"`, `\`,
	}
	random := Random()
	for len(list) < n {
		text := make([]rune, random.IntN(12))
		for i := range text {
			text[i] = runes[random.IntN(len(runes))]
		}
		list = append(list, string(text))
	}
	return list
}

// Random is a source that gives the same in every run, so that a test that fails does
// so again.
func Random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
