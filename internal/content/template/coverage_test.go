package template

import (
	"fmt"
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/template/coverage"
)

// TestCoverage: each branch is recorded, also the one that is not written, and the output stays the same.
func TestCoverage(t *testing.T) {
	const text = "a: 1\n{{- if .imports.tls }}\nb: 2\n{{- else if .imports.plain -}}\n  c: 3\n{{- end }}\n{{ range .imports.list -}}\n  d: {{ . }}\n{{ end }}{{ with .imports.none }}e: 4{{ end }}"
	for _, test := range []struct {
		reason, imports, missed string
		all                     int
	}{
		{"nothing is executed by a check", "", "0 the template, 2 else of if .imports.tls, 2 if .imports.tls, 4 else of if .imports.plain, 4 if .imports.plain, 7 else of range .imports.list, 7 range .imports.list, 9 else of with .imports.none, 9 with .imports.none", 9},
		{"the first branch", `{tls: true, list: [1]}`, "2 else of if .imports.tls, 4 else of if .imports.plain, 4 if .imports.plain, 7 else of range .imports.list, 9 with .imports.none", 9},
		{"the second branch, and an empty list", `{plain: true, none: x}`, "2 if .imports.tls, 4 else of if .imports.plain, 7 range .imports.list, 9 else of with .imports.none", 9},
	} {
		t.Run(test.reason, func(t *testing.T) {
			recorder := coverage.NewRecorder()
			ctx := coverage.With(t.Context(), recorder)
			executor := executor(t, v1alpha1.GOTemplateType, text)
			if err := Check(ctx, executor, nil, Functions{}); err != nil {
				t.Fatal(err)
			}
			if test.imports != "" {
				in := Input{Phase: DeployExecution, Executor: executor, Bindings: map[string]any{"imports": yamlOf(t, block{text: test.imports})}}
				with, err := (&Engine{}).Execute(ctx, in)
				if err != nil {
					t.Fatal(err)
				}
				without, err := (&Engine{}).Execute(t.Context(), in)
				if err != nil || string(with.rendered.Text) != string(without.rendered.Text) {
					t.Errorf("%v: the output changes from %s to %s", err, without.rendered.Text, with.rendered.Text)
				}
			}
			var names []string
			missed, all := recorder.Missed()
			for _, b := range missed {
				names = append(names, fmt.Sprint(b.Line, " ", b.Text))
			}
			if got := strings.Join(names, ", "); got != test.missed || all != test.all {
				t.Errorf("%d branches, missed %s", all, got)
			}
		})
	}
}
