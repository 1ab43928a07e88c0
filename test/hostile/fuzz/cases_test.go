package fuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	helmchart "helm.sh/helm/v4/pkg/chart/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"go.landscaper.dev/api/deployer"
	api "go.landscaper.dev/api/kustomize/v1alpha1"
	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/base/expression"
	"go.landscaper.dev/internal/base/jsonvalue"
	"go.landscaper.dev/internal/base/memfs"
	"go.landscaper.dev/internal/content/blueprint"
	"go.landscaper.dev/internal/deploy/fieldpath"
	"go.landscaper.dev/internal/deploy/helm/render"
	"go.landscaper.dev/internal/deploy/kustomize/build"
	"go.landscaper.dev/internal/landscape/plan"
	"go.landscaper.dev/internal/landscape/plan/remote"
	"go.landscaper.dev/internal/model/dataflow"
	"go.landscaper.dev/internal/runtime/sandbox"
)

// example is what was composed: its text for people, and the work on it.
type example struct {
	text string
	// bounded is set for what is bounded by the process.
	bounded bool
	work    func(ctx context.Context, pool *sandbox.Pool) error
}

// kinds are what is composed, by turns.
var kinds = []struct {
	name string
	make func(*composer) example
}{
	{"blueprint with Go templates", (*composer).goBlueprint},
	{"blueprint with spiff", (*composer).spiffBlueprint},
	{"chart", (*composer).chart},
	{"kustomization", (*composer).kustomization},
	{"answer of a target", (*composer).answer},
}

func tree(files map[string]string) (*memfs.Tree, error) {
	var builder memfs.Builder
	for name, text := range files {
		if err := builder.AddFile(name, text); err != nil {
			return nil, err
		}
	}
	return builder.Tree(), nil
}

// show is what files look like in a report.
func show(files any) string {
	text, err := json.MarshalIndent(files, "", " ")
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// blueprint is one with some executions and an import.
func (c *composer) blueprint(executions map[string]any) example {
	var schema any
	_ = json.Unmarshal([]byte(c.rootSchema()), &schema) // the pieces are JSON
	about := map[string]any{
		"apiVersion": "landscaper.gardener.cloud/v1alpha1", "kind": "Blueprint",
		"imports": []any{map[string]any{"name": "given", "schema": schema}},
	}
	for name, value := range executions {
		about[name] = value
	}
	given, err := jsonvalue.FromYAML([]byte(c.yaml()))
	if err != nil {
		given = "text"
	}
	value, err := json.Marshal(given)
	if err != nil {
		value = []byte("1")
	}
	description, err := yaml.Marshal(about)
	files := map[string]string{"blueprint.yaml": string(description), "t": "{{ . }}"}
	return example{text: show(about), bounded: true, work: func(ctx context.Context, pool *sandbox.Pool) error {
		if err != nil {
			return err
		}
		inside, err := tree(files)
		if err != nil {
			return err
		}
		loaded, err := blueprint.Load(inside)
		if err != nil {
			return err
		}
		inst := &v1alpha1.Installation{ObjectMeta: metav1.ObjectMeta{Namespace: "space", Name: "inst", UID: "uid"}}
		in := plan.Input{Installation: inst, Blueprint: loaded, Imports: dataflow.Imports{Data: map[string]dataflow.DataImport{"given": {Value: v1alpha1.NewAnyJSON(value)}}}}
		_, err = remote.Maker{Pool: pool}.Make(ctx, in, plan.Want{Alone: true})
		return err
	}}
}

func (c *composer) goBlueprint() example {
	execution := func(result string) []any {
		return []any{map[string]any{"name": "e", "type": "GoTemplate", "template": c.template() + result}}
	}
	return c.blueprint(map[string]any{of(c, "deployExecutions", "importExecutions", "subinstallationExecutions"): execution("\n" + of(c, "deployItems: []", "bindings: {}", "{{ toYaml $d }}", "{{ $a }}", "deployItems: {{ toJson $l }}"))})
}

func (c *composer) spiffBlueprint() example {
	document := map[string]any{
		"double": "(( |x|->x x ))", "grow": `(( |n|->n == 0 ? {} :{"a"=_(n - 1), "b"=_(n - 1)} ))`, "number": 2, "list": []any{1, 2, 3}, "map": map[string]any{"a": "b"}, "text": strings.Repeat("x", min(c.size(), 20_000)),
		"deployItems": []any{},
	}
	for i := range 1 + c.IntN(4) {
		document[fmt.Sprint("v", i)] = fmt.Sprintf(of(c, "(( %s ))", "(( &temporary(%s) ))"), c.spiff())
	}
	return c.blueprint(map[string]any{"deployExecutions": []any{map[string]any{"name": "e", "type": "Spiff", "template": document}}})
}

// chart is one with sub-charts.
func (c *composer) chart() example {
	return charted(c.oneChart("shop", 1+c.IntN(4)))
}

// charted is the rendering of a chart.
func charted(chart *helmchart.Chart) example {
	values := map[string]any{"global": map[string]any{"a": "b"}, "list": []any{int64(1)}}
	text := ""
	for of := chart; of != nil; {
		text += show(of.Metadata) + "\n"
		for _, file := range of.Templates {
			text += file.Name + ": " + string(file.Data) + "\n"
		}
		if inner := of.Dependencies(); len(inner) > 0 {
			of = inner[0]
		} else {
			of = nil
		}
	}
	return example{text: text, bounded: true, work: func(ctx context.Context, pool *sandbox.Pool) error {
		in := render.Input{Chart: chart, Values: values, Name: "release", Namespace: "space", Revision: 1, Capabilities: common.DefaultCapabilities}
		_, err := render.Process{Pool: pool}.Render(ctx, "space", in, render.Want{Templates: true, Exports: []deployer.Export{{Key: "values", JSONPath: ".Values"}}})
		return err
	}}
}

func (c *composer) oneChart(name string, levels int) *helmchart.Chart {
	chart := &helmchart.Chart{Metadata: &helmchart.Metadata{APIVersion: "v2", Name: name, Version: "1.0.0", Type: of(c, "", "library")}, Values: map[string]any{}}
	switch of(c, 0, 1, 2) {
	case 0:
		globals := map[string]any{}
		for i := range c.few() * 10 {
			globals[fmt.Sprint("k", i)] = map[string]any{"a": "b"}
		}
		chart.Values["global"] = globals
	case 1:
		if value, err := jsonvalue.FromYAML([]byte(c.yaml())); err == nil {
			chart.Values, _ = value.(map[string]any)
		}
	}
	if of(c, true, false, false) {
		chart.Schema = []byte(c.rootSchema())
	}
	file := strings.Repeat("line\n", min(c.size(), 100_000))
	chart.Files = []*common.File{{Name: "f.txt", Data: []byte(file)}, {Name: "crds/a.yaml", Data: []byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n" + c.yaml())}}
	read := of(c, "", `{{ range until 1000 }}{{ $l = append $l ($.Files.Lines "f.txt") }}{{ end }}`, `{{ range until 100 }}{{ $l = append $l $.Files.AsConfig }}{{ end }}`,
		`{{ $l = append $l ($.Files.Glob "**").AsSecrets }}`, `{{ $a = toYaml .Values }}`, `{{ $a = tpl ($.Files.Get "f.txt") . }}`)
	chart.Templates = []*common.File{
		{Name: "templates/a.yaml", Data: []byte(c.template() + read + "\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n" + c.rare("---\n", c.yaml()))},
		{Name: "templates/_t.tpl", Data: []byte(`{{ define "t" }}` + c.rare(`{{ include "t" . }}`) + `x{{ end }}`)},
	}
	for i := range levels - 1 {
		child := c.oneChart(fmt.Sprintf("c%d", i), levels-1)
		chart.AddDependency(child)
		for j := range of(c, 0, 1, 3, 12) {
			chart.Metadata.Dependencies = append(chart.Metadata.Dependencies, &helmchart.Dependency{Name: child.Name(), Version: "1.0.0", Alias: fmt.Sprintf("a%d", j), ImportValues: of(c, nil, []any{"global"}, []any{map[string]any{"child": "global", "parent": "up"}}), Condition: of(c, "", "list.a,global.b")})
		}
		if levels > 3 {
			break // one child each, deep in each other
		}
	}
	return chart
}

// kustomization is one with bases and components.
func (c *composer) kustomization() example {
	files := map[string]string{}
	c.directory(files, "", 1+c.IntN(3))
	return example{text: show(files), bounded: true, work: func(ctx context.Context, pool *sandbox.Pool) error {
		inside, err := tree(files)
		if err != nil {
			return err
		}
		_, err = build.Process{Pool: pool}.Build(ctx, "space", inside, &api.ProviderConfiguration{})
		return err
	}}
}

// rare is one of some pieces now and then: a case in which they are refused shows nothing else.
func (c *composer) rare(pieces ...string) string {
	if c.IntN(20) > 0 {
		return ""
	}
	return of(c, pieces...)
}

func (c *composer) directory(files map[string]string, at string, levels int) {
	n := c.few()
	annotations := of(c, "", "annotations: {internal.config.kubernetes.io/previousNames: '"+strings.Repeat("a,", c.few()*20)+"a', internal.config.kubernetes.io/previousKinds: ConfigMap, internal.config.kubernetes.io/previousNamespaces: '"+strings.Repeat("default,", c.few()*20)+"default'}", "annotations: {config.kubernetes.io/local-config: 'true'}", "annotations: {kustomize.config.k8s.io/behavior: merge}")
	object := of(c,
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c#, "+annotations+"}\ndata: {a: b}\n",
		"---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d#, "+annotations+"}\nspec: {template: {spec: {containers: [{name: a, env: [{name: e, valueFrom: {configMapKeyRef: {name: c#, key: a}}}]}]}}}\n",
		"---\napiVersion: v1\nkind: List\nmetadata: {name: l#}\nitems: [{apiVersion: v1, kind: Secret, metadata: {name: s#}}]\n",
	)
	references := "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: refers}\nspec: {template: {spec: {containers: [{name: a, envFrom: [" + lines("{configMapRef: {name: c#}},", n) + "]}]}}}\n"
	files[at+"a.yaml"] = lines(object, n) + of(c, "", references, c.rare("---\n"+c.yaml()))
	patch := of(c,
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: c0}, data: {"+lines("k#: v, ", n)+"z: z}}",
		"[{op: add, path: /data/x, value: y}"+c.rare(", {op: copy, from: /data, path: /data/x}")+"]",
		"["+strings.TrimSuffix(strings.Repeat("{op: add, path: /data, value: {"+lines("k#: v, ", c.few())+"z: z}},", of(c, 1, 5, 20, 30)), ",")+"]",
		"{apiVersion: apps/v1, kind: Deployment, metadata: {name: d0}, spec: {template: {spec: {containers: ["+lines("{name: c#},", n)+"{name: z}]}}}}",
	)
	text := "resources: [a.yaml]\n" + of(c, "", "namePrefix: p-\n", "nameSuffix: "+strings.Repeat("s", c.few())+"\n", "namespace: n\n") +
		of(c, "", "labels: [{pairs: {"+lines("l#: v, ", c.few())+"z: z}, includeSelectors: true}]\n", "commonAnnotations: {a: "+strings.Repeat("x", min(c.size(), 20_000))+"}\n") +
		of(c, "", "patches: ["+strings.Repeat("{target: {kind: "+of(c, "ConfigMap", ".*", "(a|b)*")+"}, patch: '"+patch+"'},", of(c, 1, 1, 3, 30))+"]\n") +
		of(c, "", "configMapGenerator: ["+lines("{name: g#, literals: [a=b]},", c.few())+"]\n", "generatorOptions: {labels: {a: b}}\nsecretGenerator: [{name: s, literals: ["+lines("k#=v,", c.few())+"a=b]}]\n") +
		of(c, "", c.rare("images: [{name: a, newName: b}]\nreplicas: [{name: d0, count: 3}]\n", "replacements: [{source: {kind: ConfigMap, name: c0, fieldPath: data.a}, targets: [{select: {kind: ConfigMap}, fieldPaths: [data.b], options: {create: true}}]}]\n",
			"vars: [{name: V, objref: {apiVersion: v1, kind: ConfigMap, name: c0}}]\n", "sortOptions: {order: fifo}\n", "configurations: [a.yaml]\n", "crds: [a.yaml]\n", "openapi: {path: a.yaml}\n", "buildMetadata: [originAnnotations, transformerAnnotations]\n"))
	if levels > 1 {
		// The same base many times, by other names.
		var bases []string
		for i := range of(c, 1, 2, 5) {
			base := fmt.Sprintf("b%d/", i)
			c.directory(files, at+base, levels-1)
			bases = append(bases, strings.TrimSuffix(base, "/"))
		}
		text = strings.Replace(text, "[a.yaml]", "[a.yaml, "+strings.Join(bases, ", ")+"]", 1)
	}
	files[at+"kustomization.yaml"] = text
}

// look is what the server does itself with objects of target clusters.
type look struct{ Path, Expression, Object, Key string }

// lookOperation names it. Here, a process does it in place of the server: what takes too much would
// take it of the server.
const lookOperation = "look"

func lookHere(_ context.Context, body []byte, _ sandbox.Ask) ([]byte, error) {
	l := &look{}
	if err := sandbox.Decode(body, l); err != nil {
		return nil, err
	}
	var object map[string]any
	if err := json.Unmarshal([]byte(l.Object), &object); err != nil {
		return nil, err
	}
	found := 0
	if path, err := fieldpath.Parse(l.Path); err == nil {
		values, err := path.Find(object)
		if found = len(values); err == nil && found > 0 {
			if key, err := fieldpath.ParseKey(l.Key); err == nil {
				exports := map[string]any{}
				key.Put(exports, values[0])
				key.Put(exports, values[found-1])
			}
		}
	}
	holds := false
	if condition, err := expression.Parse(l.Expression); err == nil {
		holds, _ = condition.Holds(object) // that it ends is all that is asked
	}
	return fmt.Appendf(nil, "%d %t", found, holds), nil
}

// answer is an object of a target cluster, with a path and a condition.
func (c *composer) answer() example {
	l := &look{Path: c.path(), Expression: c.cel(), Key: of(c, "a", "a.b", strings.Repeat("a.", 300)+"a"), Object: `{"apiVersion":"v1","kind":"A","a":` + c.object() + `,"b":` + c.object() + "}"}
	text := fmt.Sprintf("path %s\nexpression %s\nobject %.2000s", l.Path, l.Expression, l.Object)
	return example{text: text, work: func(ctx context.Context, pool *sandbox.Pool) error {
		_, err := pool.Do(ctx, sandbox.Work{Tenant: "space", Name: lookOperation, Title: "the look", Encode: func() ([]byte, error) { return sandbox.Encode(l) }})
		return err
	}}
}

// path is a JSON path.
func (c *composer) path() string {
	var path strings.Builder
	for range 1 + c.IntN(12) {
		path.WriteString(of(c, ".a", ".b", "..a", "..*", "[*]", ".*", "[0]", "[0:100:1]", "[-1]", "[?(@.a)]", "[?(@.a=='b')]", "[?(@..a==@..a)]", "['a','b']", "[a,b,a]", "[0,0,0]", "['..a','..*']", `["a"]`, "[?(@.a[?(@.b)])]"))
	}
	return path.String()
}

// cel is a condition.
func (c *composer) cel() string {
	return c.deeper(func() string { return of(c, "a", "b", "x", "y", "1", "'a'", "true", "[1, 2]", "{'a': 1}", "size(a)") }, func() string {
		e := c.cel
		return of(c,
			func() string {
				return fmt.Sprintf("%s.%s(%s, %s)", e(), of(c, "all", "exists", "exists_one", "map", "filter"), of(c, "x", "y"), e())
			},
			func() string {
				return fmt.Sprintf("(%s %s %s)", e(), of(c, "+", "==", "&&", "||", "in", "<", "*"), e())
			},
			func() string { return fmt.Sprintf("[%s, %s]", e(), e()) },
			func() string { return fmt.Sprintf("{'k': %s}", e()) },
			func() string { return fmt.Sprintf("%s.matches(%s)", e(), of(c, `'(a*)*b'`, `'a{1000}{1000}'`, e())) },
			func() string { return fmt.Sprintf("%s.?a.orValue(%s)", e(), e()) },
			func() string { return fmt.Sprintf("(%s ? %s : %s)", e(), e(), e()) },
			func() string { return fmt.Sprintf("string(%s)", e()) },
			func() string { return fmt.Sprintf("has(%s.a)", of(c, "a", "b", "x")) },
		)()
	})
}

// object is a value of an answer.
func (c *composer) object() string {
	n := c.few()
	return of(c,
		func() string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) },
		func() string { return strings.Repeat(`{"b":1,"a":[`, n) + "1" + strings.Repeat("]}", n) },
		func() string { return "[" + strings.Repeat(`{"a":"b"},`, min(c.size(), 100_000)) + "1]" },
		func() string { return "[" + lines("#,", min(c.size(), 20_000)) + "0]" },
		func() string { return `{` + lines(`"k#":{"a":"b"},`, min(c.size(), 20_000)) + `"a":1}` },
		func() string { return `"` + strings.Repeat("a", c.size()) + `"` },
		func() string { return "[" + strings.TrimSuffix(strings.Repeat("["+lines("#,", n)+"1],", n), ",") + "]" },
	)()
}
