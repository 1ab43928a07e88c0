package function

import (
	"testing"
	"time"
)

// FuzzRegexp searches with expressions of templates: in bounded time, without a crash.
func FuzzRegexp(f *testing.F) {
	f.Add("(a*)*b", "aaaa", "$1")
	f.Add("((a{1,100}){1,100}){1,100}", "a", "")
	f.Add("", "x", "${name}")
	f.Add(`(?i)\pL+|[^\x00]`, "ä\xff", "$0")
	f.Fuzz(func(t *testing.T, pattern, text, replacement string) {
		if len(text) > 1_000 {
			return // the square of it may take any time, which a process ends
		}
		began := time.Now()
		_, _ = regexMatch(pattern, text)
		_, _ = regexFindAll(pattern, text, -1)
		_, _ = regexReplaceAll(pattern, text, replacement)
		_, _ = regexSplit(pattern, text, -1)
		if took := time.Since(began); took > 2*time.Minute {
			t.Fatalf("it takes %s", took)
		}
	})
}
