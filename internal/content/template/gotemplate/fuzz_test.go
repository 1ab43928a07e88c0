package gotemplate

import (
	"context"
	"strings"
	"testing"
	"time"
)

// fuzzLimits end every rendering soon.
var fuzzLimits = Limits{Duration: 2 * time.Second, Steps: 20_000}

// FuzzRender renders templates. Whatever they are, they end, and what they say in an
// error does not repeat a value.
func FuzzRender(f *testing.F) {
	for _, seed := range []string{
		`{{ range $i, $x := .imports.l }}{{ $i }}{{ $x | quote }}{{ end }}`, `{{ define "a" }}{{ . }}{{ end }}{{ template "a" .imports }}`,
		`{{ tpl .imports.s . }}`, `{{ fromJson .imports.s }}`, `{{ fromYaml "a: &a [*a]" }}`, `{{ printf "%[3]*.[2]*[1]f" 1 2 3 }}`, `{{ fail .imports.s }}`,
		`{{ regexReplaceAll "(a|b)*" .imports.s "$1" }}`, `{{ index .imports.l 7 }}`, `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ toYaml $d }}`,
		`{{ genCAWithKey "a" 1 "-----BEGIN RSA PRIVATE KEY-----\nMAA=\n-----END RSA PRIVATE KEY-----" }}`, `{{ .imports.s.x }}`, `{{ with .imports }}{{ else with .a }}{{ end }}`,
	} {
		f.Add(seed)
	}
	const value = "Tr0ubador_Xk9"
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "gen") || strings.Contains(text, "bcrypt") || strings.Contains(text, "htpasswd") || strings.Contains(text, "derive") {
			return // slow by design, and tested by themselves
		}
		bindings := map[string]any{"imports": map[string]any{"s": value, "l": []any{value, int64(3), nil, map[string]any{"a": 1.5}}}}
		began := time.Now()
		result, err := Config{Limits: fuzzLimits}.Render(context.Background(), Source{Name: "default", Text: text}, bindings)
		if took := time.Since(began); took > 2*time.Minute {
			t.Fatalf("it takes %s", took)
		}
		if err != nil {
			if strings.Contains(err.Error(), value) {
				t.Fatalf("the error shows a value: %v", err)
			}
			return
		}
		for line := 1; line < 4; line++ {
			if shown, _ := result.Line(line); strings.Contains(shown, value) {
				t.Fatalf("line %d shows a value: %s", line, shown)
			}
		}
	})
}
