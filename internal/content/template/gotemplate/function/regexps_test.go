package function

import (
	"context"
	"testing"
	"time"

	"go.landscaper.dev/internal/content/template/gotemplate/worklimit"
)

// FuzzRegexp searches with expressions of templates: in bounded time, without a crash.
func FuzzRegexp(f *testing.F) {
	f.Add("(a*)*b", "aaaa", "$1")
	f.Add("((a{1,100}){1,100}){1,100}", "a", "")
	f.Add("", "x", "${name}")
	f.Add(`(?i)\pL+|[^\x00]`, "ä\xff", "$0")
	f.Fuzz(func(t *testing.T, pattern, text, replacement string) {
		meter, cancel := worklimit.NewMeter(context.Background(), worklimit.Limits{Steps: 20_000, Text: 256 << 10, Produced: 4 << 20, List: 10_000}, nil)
		defer cancel()
		r := &Library{Meter: meter}
		began := time.Now()
		_, _ = r.regexMatch(pattern, text)
		_, _ = r.regexFindAll(pattern, text, -1)
		_, _ = r.regexReplaceAll(pattern, text, replacement)
		_, _ = r.regexSplit(pattern, text, -1)
		if took := time.Since(began); took > 2*time.Minute {
			t.Fatalf("it takes %s", took)
		}
	})
}
