package release

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestManyObjects: aliases that each document may have do not add up over many documents.
func TestManyObjects(t *testing.T) {
	aliases := "a: &a [" + strings.Repeat("[],", 100) + "[]]\nb: &b [" + strings.Repeat("*a,", 100) + "*a]\nc: [" + strings.Repeat("*b,", 10) + "*b]\n"
	const documents = 60
	texts := make([]string, documents)
	for i := range texts {
		texts[i] = fmt.Sprintf("---\n# Source: chart/%d.yaml\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a%d}\n%s", i, i, aliases)
	}
	var reader Reader
	for _, test := range []struct {
		reason string
		read   func() (kept any, err error)
	}{
		{"in one manifest", func() (any, error) { return Entries(strings.Join(texts, ""), "here") }},
		{"in many files of the folder crds", func() (any, error) {
			var kept []any
			for _, text := range texts {
				found, err := reader.Entries(text, "")
				if kept = append(kept, found); err != nil {
					return kept, err
				}
			}
			return kept, nil
		}},
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		kept, err := test.read()
		runtime.ReadMemStats(&after)
		runtime.KeepAlive(kept)
		if err == nil || !strings.Contains(err.Error(), "take more than 64 MiB of memory") || !strings.HasPrefix(err.Error(), "chart/") {
			t.Errorf("%s: %v", test.reason, err)
		}
		if taken := (after.TotalAlloc - before.TotalAlloc) >> 20; taken > 400 {
			t.Errorf("%s: %d MiB were allocated", test.reason, taken)
		}
	}
	if entries, err := Entries(texts[0]+texts[1], "here"); err != nil || len(entries) != 2 {
		t.Errorf("two of them: %v", err)
	}
}
