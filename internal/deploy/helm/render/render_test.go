package render

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/internal/content/template/gotemplate"
)

// chartOf makes a chart of files.
func chartOf(t *testing.T, name string, files map[string]string) *helmchart.Chart {
	t.Helper()
	made := &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: "v2", Name: name, Version: "1.2.3", AppVersion: "9"}}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		content := []byte(files[file])
		switch {
		case file == "values.yaml":
			if err := yaml.Unmarshal(content, &made.Values); err != nil {
				t.Fatal(err)
			}
		case file == "values.schema.json":
			made.Schema = content
		case strings.HasPrefix(file, "templates/"):
			made.Templates = append(made.Templates, &common.File{Name: file, Data: content})
		default:
			made.Files = append(made.Files, &common.File{Name: file, Data: content})
		}
	}
	return made
}

func inputOf(chart *helmchart.Chart, values map[string]any) Input {
	capabilities := common.DefaultCapabilities.Copy()
	return Input{Chart: chart, Values: values, Name: "shop", Namespace: "here", Revision: 3, Upgrade: true, Capabilities: capabilities}
}

func rendered(ctx context.Context, in Input) (*Output, error) {
	values, err := Merge(ctx, in)
	if err != nil {
		return nil, err
	}
	return Render(ctx, in, values)
}

// samples are templates as real charts have them.
var samples = map[string]string{
	"values.yaml":        "name: web\nport: 8080\ntags: [a, b]\nnested: {key: value, empty: ''}\nenabled: true\ntext: 'hello {{ .Release.Name }}'\n",
	"config/one.txt":     "first\nsecond\n",
	"config/two.txt":     "other",
	"templates/_lib.tpl": `{{- define "shop.labels" -}}app: {{ .Chart.Name }}{{ "\n" }}release: {{ .Release.Name | quote }}{{- end -}}`,
	"templates/a.yaml":   "labels:\n  {{- include \"shop.labels\" . | nindent 2 }}\nport: {{ .Values.port }}\nrevision: {{ .Release.Revision }}\nupgrade: {{ .Release.IsUpgrade }}\n",
	"templates/b.yaml":   "{{- range $i, $t := .Values.tags }}\n- {{ $i }}: {{ $t | upper | quote }}\n{{- end }}\n{{ toYaml .Values.nested }}\n",
	"templates/c.yaml":   "{{ tpl .Values.text . }} {{ .Values.missing }} {{ default \"x\" .Values.nested.empty }} {{ .Template.Name }} {{ .Template.BasePath }}\n",
	"templates/d.yaml":   "{{ (.Files.Glob \"config/*.txt\").AsConfig | indent 2 }}\n{{ .Files.Get \"config/two.txt\" }} {{ range .Files.Lines \"config/one.txt\" }}[{{ . }}]{{ end }}\n{{ (.Files.Glob \"config/one*\").AsSecrets }}\n",
	"templates/e.yaml":   "{{ if and .Values.enabled (.Capabilities.APIVersions.Has \"apps/v1\") }}yes{{ else }}no{{ end }} {{ semverCompare \">=1.10-0\" .Capabilities.KubeVersion.Version }}\n",
	"templates/f.yaml":   "{{ with .Values.nested }}{{ .key }} {{ $.Release.Namespace }}{{ end }} {{ hasKey .Values \"port\" }} {{ get .Values \"name\" }} {{ .Chart.AppVersion }} {{ .Chart.IsRoot }}\n",
	"templates/g.yaml":   "{{ $d := dict \"a\" 1 \"b\" (list 1 2) }}{{ $d | toJson }} {{ fromYaml \"x: {a: z}\" | toJson }} {{ .Values | toJson | sha256sum | trunc 4 }}{{ printf \"%s-%d\" .Values.name (int .Values.port) }}\n",
	"templates/h.yaml":   "{{ define \"again\" }}{{ if gt . 0 }}{{ . }} {{ include \"again\" (sub . 1) }}{{ end }}{{ end }}{{ include \"again\" 3 }}{{ tpl \"{{ include \\\"shop.labels\\\" . }}\" . }}\n",
}

// TestAsHelm compares with what Helm itself makes of the same charts.
func TestAsHelm(t *testing.T) {
	chart := chartOf(t, "shop", samples)
	child := chartOf(t, "child", map[string]string{
		"values.yaml": "own: 1\n", "templates/x.yaml": "{{ .Values.own }} {{ .Values.global.zone }} {{ include \"shop.labels\" . }} {{ .Chart.Name }} {{ .Chart.IsRoot }}\n",
	})
	chart.AddDependency(child)
	in := inputOf(chart, map[string]any{"name": "mine", "child": map[string]any{"own": int64(7)}, "global": map[string]any{"zone": "north"}})
	values, err := Merge(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	want, err := engine.Engine{}.RenderWithContext(t.Context(), values.chart, values.Root)
	if err != nil {
		t.Fatal(err)
	}
	output, err := Render(t.Context(), in, values)
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		if strings.TrimSpace(want[name]) == "" {
			delete(want, name)
		}
	}
	if diff := cmp.Diff(want, output.Files); diff != "" {
		t.Errorf("-Helm +ours\n%s", diff)
	}
	if len(want) < 9 {
		t.Errorf("only %d files are compared", len(want))
	}
}

const canary = "top-secret-word"

func TestRefused(t *testing.T) {
	tests := []struct {
		reason string
		files  map[string]string
		limits gotemplate.Limits
		says   string
	}{
		{"a loop without end", map[string]string{"templates/a.yaml": "{{ range $i := until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}"}, gotemplate.Limits{Steps: 100_000}, "steps"},
		{"a loop over a number", map[string]string{"templates/a.yaml": "{{ range 2000000000 }}{{ end }}"}, gotemplate.Limits{Steps: 100_000}, "steps"},
		{"time", map[string]string{"templates/a.yaml": "{{ range until 1000000 }}{{ end }}"}, gotemplate.Limits{Duration: time.Nanosecond}, "takes longer than"},
		{"a template that includes itself", map[string]string{"templates/a.yaml": `{{ define "x" }}{{ include "x" . }}{{ end }}{{ include "x" . }}`}, gotemplate.Limits{}, "nested reference name"},
		{"a template of a template without end", map[string]string{"templates/a.yaml": `{{ define "x" }}{{ tpl "{{ include \"x\" . }}" . }}{{ end }}{{ include "x" . }}`}, gotemplate.Limits{}, "nested reference name"},
		{"no template of this name", map[string]string{"templates/a.yaml": `{{ include "nowhere" . }}`}, gotemplate.Limits{}, `no template "nowhere" is defined`},
		{"the environment", map[string]string{"templates/a.yaml": `{{ env "HOME" }}`}, gotemplate.Limits{}, `function "env" not defined`},
		{"a value that is required", map[string]string{"templates/a.yaml": `{{ required "set host" .Values.host }}`}, gotemplate.Limits{}, "set host"},
		{"an error with a value", map[string]string{"templates/a.yaml": `{{ fail (printf "never use %s as a name" .Values.password) }}`}, gotemplate.Limits{}, "never use [...]"},
		{"a broken template of a value", map[string]string{"templates/a.yaml": `{{ tpl .Values.password . }}{{ index .Values.password 1000 }}`}, gotemplate.Limits{}, "templates/a.yaml"},
		{"a schema", map[string]string{"values.schema.json": `{"properties": {"password": {"type": "integer"}}}`}, gotemplate.Limits{}, "values.schema.json of chart shop"},
		{"a schema that reads a file of the machine", map[string]string{"values.schema.json": `{"$ref": "file:///etc/passwd"}`}, gotemplate.Limits{}, "values.schema.json of chart shop"},
		{"a schema of another host", map[string]string{"values.schema.json": `{"$ref": "http://127.0.0.1:1/schema"}`}, gotemplate.Limits{}, "values.schema.json of chart shop"},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			in := inputOf(chartOf(t, "shop", test.files), map[string]any{"password": canary})
			in.Limits = test.limits
			_, err := rendered(t.Context(), in)
			var wrong *Invalid
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
			if err != nil && strings.Contains(err.Error(), canary) {
				t.Errorf("it shows a value: %v", err)
			}
		})
	}
}

// TestNotYAML fails instead of leaving an object out.
func TestNotYAML(t *testing.T) {
	for reason, text := range map[string]string{
		"an open bracket":      "a: [" + canary,
		"a text":               canary,
		"a kind that is a map": "kind: {a: " + canary + "}",
		"a bomb of aliases":    "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
	} {
		t.Run(reason, func(t *testing.T) {
			output, err := rendered(t.Context(), inputOf(chartOf(t, "shop", map[string]string{"templates/a.yaml": text, "templates/0.yaml": "kind: Good"}), nil))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = output.Sort(); err == nil || !strings.Contains(err.Error(), "shop/templates/a.yaml") || strings.Contains(err.Error(), canary) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestDependencies leaves out what is switched off.
func TestDependencies(t *testing.T) {
	chart := chartOf(t, "shop", map[string]string{"values.yaml": "db: {enabled: false}\ncache: {enabled: true}\n", "templates/NOTES.txt": "welcome"})
	for _, name := range []string{"db", "cache"} {
		chart.AddDependency(chartOf(t, name, map[string]string{"templates/x.yaml": "name: " + name + "\n", "templates/NOTES.txt": "other"}))
		chart.Metadata.Dependencies = append(chart.Metadata.Dependencies, &helmchart.Dependency{Name: name, Version: "1.x", Condition: name + ".enabled"})
	}
	for reason, test := range map[string]struct {
		values map[string]any
		want   []string
	}{
		"as the chart says":    {nil, []string{"shop/charts/cache/templates/x.yaml"}},
		"as the user says":     {map[string]any{"db": map[string]any{"enabled": true}, "cache": map[string]any{"enabled": false}}, []string{"shop/charts/db/templates/x.yaml"}},
		"the chart is as ever": {nil, []string{"shop/charts/cache/templates/x.yaml"}},
	} {
		t.Run(reason, func(t *testing.T) {
			output, err := rendered(t.Context(), inputOf(chart, test.values))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, slices.Sorted(maps.Keys(output.Files))); diff != "" || output.Notes != "welcome" {
				t.Errorf("notes %q, -want +got\n%s", output.Notes, diff)
			}
		})
	}
}

func TestLookup(t *testing.T) {
	down := errors.New("the cluster does not answer")
	chart := chartOf(t, "shop", map[string]string{"templates/a.yaml": `{{ (lookup "v1" "Secret" "here" "x").data.key }}`})
	in := inputOf(chart, nil)
	in.Lookup = func(_ context.Context, apiVersion, kind, namespace, name string) (map[string]any, error) {
		return map[string]any{"data": map[string]any{"key": strings.Join([]string{apiVersion, kind, namespace, name}, " ")}}, nil
	}
	output, err := rendered(t.Context(), in)
	if err != nil || output.Files["shop/templates/a.yaml"] != "v1 Secret here x" {
		t.Errorf("%v %v", output, err)
	}
	in.Lookup = func(context.Context, string, string, string, string) (map[string]any, error) { return nil, down }
	var wrong *Invalid
	if _, err := rendered(t.Context(), in); !errors.Is(err, down) || errors.As(err, &wrong) {
		t.Errorf("it may go better next time: %v", err)
	}
	in.Chart = chartOf(t, "shop", map[string]string{"templates/a.yaml": `{{ range until 200 }}{{ lookup "v1" "Secret" "" "" }}{{ end }}`})
	in.Lookup = func(context.Context, string, string, string, string) (map[string]any, error) {
		return map[string]any{}, nil
	}
	if _, err := rendered(t.Context(), in); err == nil || !strings.Contains(err.Error(), "more than 100 times") {
		t.Errorf("%v", err)
	}
}

func TestGlob(t *testing.T) {
	for pattern, want := range map[string][]string{
		"*": {"a"}, "**": {"a", "d/b.txt", "d/e/c.yaml"}, "d/*": {"d/b.txt"}, "d/**": {"d/b.txt", "d/e/c.yaml"}, "**.{txt,yaml}": {"d/b.txt", "d/e/c.yaml"}, "d/?.txt": {"d/b.txt"}, "[": nil, "[!b]": {"a"},
		// Longer than expressions may be.
		"{" + strings.Repeat("a,", 5_000) + "a}": nil,
	} {
		found := files{"a": nil, "d/b.txt": nil, "d/e/c.yaml": nil}.Glob(pattern)
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(found))); diff != "" {
			t.Errorf("%s: -want +got\n%s", pattern, diff)
		}
	}
}
