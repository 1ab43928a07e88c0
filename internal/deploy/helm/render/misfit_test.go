package render

import (
	"bytes"
	"log"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
)

// TestMisfits reports which values do not fit the chart, without their content, neither to the
// owner of the item nor in the log.
func TestMisfits(t *testing.T) {
	if _, err := Merge(t.Context(), inputOf(chartOf(t, "shop", nil), nil)); err != nil {
		t.Fatal(err)
	}
	before := log.Writer()
	if _, isHushed := before.(hushed); !isHushed {
		t.Fatal("merging values writes into the log of the process")
	}
	var lines bytes.Buffer
	log.SetOutput(hushed{&lines})
	t.Cleanup(func() { log.SetOutput(before) })
	withChild := func(parent, child string) *helmchart.Chart {
		chart := chartOf(t, "shop", map[string]string{"values.yaml": parent})
		chart.AddDependency(chartOf(t, "db", map[string]string{"values.yaml": child}))
		chart.Metadata.Dependencies = []*helmchart.Dependency{{Name: "db", Version: "1.x"}}
		return chart
	}
	old := chartOf(t, "shop", nil)
	old.Metadata.Deprecated = true
	secret := map[string]any{"key": canary}
	many := map[string]any{}
	text := "a:\n"
	for _, letter := range strings.Split("bcdefghijklmpq", "") {
		many[letter] = canary
		text += "  " + letter + ": {}\n"
	}
	for _, test := range []struct {
		reason string
		chart  *helmchart.Chart
		values map[string]any
		want   []string
	}{
		{"all fits, and what the user leaves out or sets to nothing does too", withChild("a: {b: 1}\nc: {d: 2}\ne: {f: 3}\n", "x: 1"), map[string]any{"a": map[string]any{"b": canary}, "c": nil, "own": canary}, nil},
		{"a map for a single value", withChild("a: {b: text}\n", ""), map[string]any{"a": map[string]any{"b": secret}}, []string{"values: a.b is a map, and the chart has a single value there"}},
		{"a single value for a map", withChild("a: {b: {c: "+canary+"}}\n", ""), map[string]any{"a": map[string]any{"b": canary}}, []string{"values: a.b is a single value, and the chart has a map there"}},
		{"a chart in the chart", withChild("", "a: {b: {c: "+canary+"}}"), map[string]any{"db": map[string]any{"a": map[string]any{"b": canary}}}, []string{"values: db.a.b is a single value, and the chart has a map there"}},
		{"a value of both charts", withChild("db: {a: {b: 1}}", "a: {b: 1}"), map[string]any{"db": map[string]any{"a": secret, "b": 1}}, nil},
		{"what all charts see", withChild("", ""), map[string]any{"global": map[string]any{"a": map[string]any{"b": canary}}, "db": map[string]any{"global": map[string]any{"a": map[string]any{"b": secret}}}}, nil},
		{"no more than ten", chartOf(t, "shop", map[string]string{"values.yaml": text}), map[string]any{"a": many}, append(strings.Split(strings.TrimSuffix(strings.Repeat("x;", 10), ";"), ";"), "4 more values do not fit the chart")},
		{"a chart that is deprecated", old, nil, []string{"chart shop is deprecated"}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			lines.Reset()
			values, err := Merge(t.Context(), inputOf(test.chart, test.values))
			if err != nil {
				t.Fatal(err)
			}
			if len(test.want) > 10 {
				copy(test.want, values.Warnings[:10])
			}
			if diff := cmp.Diff(test.want, values.Warnings); diff != "" || strings.Contains(strings.Join(values.Warnings, " "), canary) {
				t.Errorf("-want +got\n%s", diff)
			}
			if lines.Len() > 0 {
				t.Errorf("the log has %q", lines.String())
			}
		})
	}
	log.Print("of others")
	if !strings.Contains(lines.String(), "of others") {
		t.Error("what others log is lost")
	}
}
