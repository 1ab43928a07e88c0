package render

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"go.landscaper.dev/api/deployer"
	"go.landscaper.dev/internal/runtime/sandbox"
	"go.landscaper.dev/internal/runtime/sandbox/sandboxtest"
)

// TestMain makes this program a process of the pool, as the server's program is one.
func TestMain(m *testing.M) { sandboxtest.Main(m, Handlers()) }

// objects are templates whose output is objects, with a hook and a lookup.
var objects = map[string]string{
	"values.yaml":         "name: web\nport: 8080\nratio: 1.5\n",
	"crds/kind.yaml":      "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n",
	"templates/a.yaml":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.name }}}\ndata: {port: {{ .Values.port | quote }}, ratio: {{ .Values.ratio | quote }}, found: {{ (lookup \"v1\" \"Secret\" \"here\" \"s\").count | quote }}}\n",
	"templates/hook.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: hook, annotations: {helm.sh/hook: \"pre-install,post-upgrade\", helm.sh/hook-weight: \"3\"}}\n",
	"templates/NOTES.txt": "it is {{ .Values.name }}",
}

// TestSameChart: another process makes the same of a chart.
func TestSameChart(t *testing.T) {
	there := Process{sandboxtest.Pool(t, nil)}
	chart := chartOf(t, "shop", objects)
	chart.AddDependency(chartOf(t, "child", map[string]string{"values.yaml": "own: 1\nlarge: 123456789012\n", "templates/x.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {own: '{{ .Values.own }} {{ .Values.large }}'}\n"}))
	in := inputOf(chart, map[string]any{"name": "mine", "port": int64(1) << 40, "child": map[string]any{"own": 2.5}})
	in.Lookup = func(context.Context, string, string, string, string) (map[string]any, error) {
		return map[string]any{"count": int64(7)}, nil
	}
	for _, want := range []Want{{}, {Templates: true}, {Templates: true, Exports: exported}, {Exports: []deployer.Export{{Key: "a", JSONPath: ".Values.absent"}}}} {
		here, err := Here{}.Render(t.Context(), "a", in, want)
		if err != nil {
			t.Fatal(err)
		}
		made, err := there.Render(t.Context(), "a", in, want)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(here, made, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%+v: -here +there:\n%s", want, diff)
		}
		if want.Templates && (len(made.Hooks) != 1 || !strings.Contains(made.Manifest, `found: "7"`) || made.Notes != "it is mine") {
			t.Errorf("the test has not what it is for: %+v", made)
		}
	}
}

// exported are exports from values.
var exported = []deployer.Export{{Key: "name", JSONPath: ".Values.name"}, {Key: "values", JSONPath: ".Values"}, {Key: "release", JSONPath: ".Release.Name"}}

// TestSameChartError: an error of another process says the same, and is judged in the same way.
func TestSameChartError(t *testing.T) {
	there := Process{sandboxtest.Pool(t, nil)}
	errDown := errors.New("the cluster does not answer")
	with := func(text string) map[string]string { return map[string]string{"templates/a.yaml": text} }
	for _, test := range []struct {
		reason string
		files  map[string]string
	}{
		{"a schema that refuses the values", map[string]string{"values.schema.json": `{"required": ["other"]}`}},
		{"a template that fails", with(`{{ fail "no" }}`)},
		{"a function that does not exist", with(`{{ env "HOME" }}`)},
		{"a cluster that does not answer", with(`{{ lookup "v1" "Secret" "a" "b" }}`)},
		{"what is not YAML", with("a: b: c")},
		{"what is not an object", with("apiVersion: [1]")},
	} {
		in := inputOf(chartOf(t, "shop", test.files), map[string]any{})
		in.Lookup = func(context.Context, string, string, string, string) (map[string]any, error) { return nil, errDown }
		_, want := Here{}.Render(t.Context(), "a", in, Want{Templates: true})
		_, err := there.Render(t.Context(), "a", in, Want{Templates: true})
		if want == nil || err == nil || want.Error() != err.Error() {
			t.Errorf("%s: here %v, there %v", test.reason, want, err)
			continue
		}
		var step, wantStep *StepError
		var wrong *Invalid
		if !errors.As(err, &step) || !errors.As(want, &wantStep) || step.Step != wantStep.Step || errors.Is(err, errDown) != errors.Is(want, errDown) || errors.As(err, &wrong) != errors.As(want, &wrong) {
			t.Errorf("%s: %#v, here %#v", test.reason, err, want)
		}
	}
}

// TestHostileCharts: what takes too much is the mistake of its chart, and the next one is rendered.
func TestHostileCharts(t *testing.T) {
	there := Process{sandboxtest.Pool(t, func(o *sandbox.Options) { o.Timeout = 3 * time.Second })}
	files := func(name, loop string) *helmchart.Chart {
		return chartOf(t, "shop", map[string]string{name: strings.Repeat("a\n", 17_000), "templates/a.yaml": loop})
	}
	const exceeded, template = "rendering the chart took more than ", "rendering the chart: template shop/templates/a.yaml took more than "
	with := func(files map[string]string) *helmchart.Chart { return chartOf(t, "shop", files) }
	for _, test := range []struct {
		reason string
		chart  *helmchart.Chart
		want   string // whether memory or time comes first follows from the machine
	}{
		{"aliases of dependencies, level in level", aliased(6, 12), exceeded},
		{"lines of a file in a loop", files("f.txt", `{{ $all := list }}{{ range until 100000 }}{{ $all = append $all ($.Files.Lines "f.txt") }}{{ end }}`), template},
		{"files as the data of a ConfigMap in a loop", files("f.txt", `{{ $all := list }}{{ range until 100000 }}{{ $all = append $all ($.Files.AsConfig) }}{{ end }}`), template},
		{"globals that are copied to each of many sub-charts", globals(), exceeded},
		{"an output without end", with(map[string]string{"templates/a.yaml": `{{ $x := repeat 1000 "0123456789" }}{{ range 9223372036854775807 }}{{ $x }}{{ end }}`}), template},
		{"much output of many files", with(map[string]string{"templates/a.yaml": `{{ repeat 50000000 "x" }}`, "templates/b.yaml": `{{ repeat 50000000 "y" }}`, "templates/c.yaml": `{{ repeat 50000000 "z" }}`}), "rendering the chart: template shop/templates/"},
		{"memory", with(map[string]string{"templates/a.yaml": `{{ repeat 1000000000 "x" }}`}), template},
	} {
		begin := time.Now()
		_, err := there.Render(t.Context(), "a", inputOf(test.chart, map[string]any{}), Want{Templates: true})
		t.Logf("%s: %v, %v", test.reason, time.Since(begin).Round(time.Millisecond), err)
		var wrong *Invalid
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.reason, err, test.want)
		}
	}
	if _, err := there.Render(t.Context(), "a", inputOf(chartOf(t, "shop", objects), map[string]any{}), Want{}); err != nil {
		t.Error(err)
	}
}

// TestManyCharts: charts that need much do not keep those of others, which need little, from their
// result.
func TestManyCharts(t *testing.T) {
	there := Process{sandboxtest.Pool(t, nil)}
	hungry := inputOf(chartOf(t, "shop", map[string]string{"templates/a.yaml": `{{ $x := repeat 40000000 "x" }}{{ $y := repeat 40000000 "y" }}{{ $z := cat $x $y }}a: {{ len $z }}`}), nil)
	small := inputOf(chartOf(t, "shop", map[string]string{"templates/a.yaml": "kind: A\napiVersion: v1\nmetadata: {name: a}"}), nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { _, _ = there.Render(t.Context(), "hungry", hungry, Want{Templates: true}) })
		all.Go(func() {
			if _, err := there.Render(t.Context(), "small", small, Want{Templates: true}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// aliased is a chart whose dependency is there under many names, and so is that of the dependency.
func aliased(levels, names int) *helmchart.Chart {
	chart := &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: "v2", Name: fmt.Sprintf("c%d", levels), Version: "1.0.0"}}
	if levels == 0 {
		return chart
	}
	child := aliased(levels-1, names)
	chart.AddDependency(child)
	for i := range names {
		chart.Metadata.Dependencies = append(chart.Metadata.Dependencies, &helmchart.Dependency{Name: child.Name(), Version: "1.0.0", Alias: fmt.Sprintf("a%d", i)})
	}
	return chart
}

// globals is a chart with many sub-charts, each of which gets a copy of all globals.
func globals() *helmchart.Chart {
	values := map[string]any{}
	for i := range 4000 {
		values[fmt.Sprintf("key%d", i)] = map[string]any{"a": "b"}
	}
	chart := &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: "v2", Name: "shop", Version: "1.0.0"}, Values: map[string]any{"global": values}}
	for i := range 50 {
		chart.AddDependency(&helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: "v2", Name: fmt.Sprintf("c%d", i), Version: "1.0.0"}})
	}
	return chart
}

// TestManyExports: exports from values are read in the process, and are bounded together.
func TestManyExports(t *testing.T) {
	there := Process{sandboxtest.Pool(t, func(o *sandbox.Options) { o.Timeout = 2 * time.Second })}
	many := func(path string) (entries []deployer.Export) {
		for i := range 3000 {
			entries = append(entries, deployer.Export{Key: fmt.Sprint("k", i), JSONPath: path})
		}
		return entries
	}
	list := make([]any, 30_000)
	for i := range list {
		list[i] = []any{}
	}
	in := inputOf(chartOf(t, "shop", map[string]string{"values.yaml": "{}"}), map[string]any{"list": list, "under": map[string]any{"a": "b"}})
	made, err := there.Render(t.Context(), "a", in, Want{Exports: many(".Values.list")})
	if err != nil || made.Exports != nil || !strings.HasPrefix(made.WithoutExports, "the values up to key k") {
		t.Errorf("one large value many times: %v, %q", err, made.WithoutExports)
	}
	_, err = there.Render(t.Context(), "a", in, Want{Exports: many(".Values..a")})
	if err == nil || !strings.Contains(err.Error(), "of time, and was ended") {
		t.Errorf("wide paths without end: %v", err)
	}
	made, err = there.Render(t.Context(), "a", in, Want{Exports: []deployer.Export{{Key: "x", JSONPath: ".Values.under.absent"}}})
	if err != nil || made.WithoutExports != "export x: there is no value at .Values.under.absent" {
		t.Errorf("a value that is absent: %+v, %v", made, err)
	}
}
