package template

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

// secrets are values of imports, of the kinds that could get into a message.
var secrets = map[string]any{
	"password": "Tr0ubador-Xk9",
	"short":    "zq",
	"digits":   "471108",
	"number":   int64(48151623),
	"fraction": 2.718281828,
	"url":      "https://jack:Sw0rdfish@%zz",
	"yaml":     "a: Plugh: [Xyzzy",
	"alias":    "*Frobozz",
	"json":     `{"a": Quux`,
	"duration": "Corge",
	"pattern":  "(Grault",
	"template": `{{ .imports.Waldo | Garply }}`,
	"authored": `{{ fail "Thud" }}`,
	"keys":     map[string]any{"Wibble": []any{"Wobble"}},
	"lines":    "first\nWubble: 1\nlast",
	"target": map[string]any{"kind": "Target", "metadata": map[string]any{"name": "blue"}, "spec": map[string]any{
		"config": map[string]any{"kubeconfig": "token: Flob"},
	}},
}

// canaries are what must not be in a message, in any case.
var canaries = []string{
	"Tr0ubador-Xk9", "Tr0ub", "Xk9", "9kX-rodab", "zq", "471108", "48151623", "48,151", "4.8151623e", "2.718281", "Sw0rdfish", "jack", "Plugh", "Xyzzy",
	"Frobozz", "Quux", "Corge", "Grault", "Waldo", "Garply", "Thud", "Wibble", "Wobble", "Wubble", "Flob",
	base64.StdEncoding.EncodeToString([]byte("Tr0ubador-Xk9")), "VHIwdWJ",
}

func leaks(text string) []string {
	var found []string
	for _, canary := range canaries {
		if strings.Contains(strings.ToLower(text), strings.ToLower(canary)) {
			found = append(found, canary)
		}
	}
	return found
}

// TestGoTemplateLeaks renders templates that fail with a value in reach.
func TestGoTemplateLeaks(t *testing.T) {
	e := &Engine{
		Files:     fileTree(map[string]string{"part.tpl": "a: {{ .password }}: b\n", "fails.tpl": "a: 1\n{{ fail .password }}", "keep": "x"}),
		Functions: Functions{GoTemplate: map[string]Function{"echo": echo, "refuse": refuse}},
	}
	for _, template := range []string{
		// Messages of the author.
		`{{ fail .imports.password }}`, `{{ fail (printf "bad password %s for you" .imports.password) }}`, `{{ fail (.imports.password | upper) }}`,
		`{{ fail (.imports.password | b64enc) }}`, `{{ fail (.imports.short) }}`, `{{ fail (printf "%s" .imports.short) }}`, `{{ fail (printf "size %d" .imports.number) }}`,
		`{{ fail (printf "size %.3e" .imports.number) }}`, `{{ fail (substr 0 5 .imports.password) }}`, `{{ fail (.imports.password | splitList "-" | join " ") }}`,
		`{{ fail (toJson .imports) }}`, `{{ fail (toYaml .imports) }}`, `{{ fail (print .imports) }}`, `{{ required .imports.password .imports.none }}`,
		`{{ required (printf "no %s" .imports.short) "" }}`, `{{ fail (repeat 3 .imports.short) }}`, `{{ fail (cat "x" .imports.digits "y") }}`,
		`{{ fail (.imports.password | lower | quote) }}`, `{{ $m := printf "%s!" .imports.password }}{{ fail $m }}`, `{{ fail (include "part.tpl" .imports) }}`,
		// Functions.
		`{{ semver .imports.password }}`, `{{ semverCompare .imports.password "1.0.0" }}`, `{{ semverCompare ">1" .imports.password }}`,
		`{{ mustRegexMatch .imports.pattern "a" }}`, `{{ regexFind .imports.pattern "a" }}`, `{{ regexReplaceAll .imports.pattern "a" "b" }}`, `{{ regexSplit .imports.pattern "a" 1 }}`,
		`{{ fromYaml .imports.yaml }}`, `{{ fromYaml .imports.alias }}`, `{{ mustFromJson .imports.json }}`, `{{ (fromJson .imports.json).a.b }}{{ fail "x" }}`,
		`{{ urlParse .imports.url }}`, `{{ urlJoin (dict "userinfo" .imports.url) }}`, `{{ urlJoin (dict "host" .imports.number) }}`, `{{ mustToDate "2006" .imports.password }}`, `{{ must_date_modify .imports.duration now }}`,
		`{{ decryptAES .imports.password .imports.password }}`, `{{ genCAWithKey .imports.password 1 .imports.password }}`, `{{ buildCustomCert .imports.password .imports.password }}`,
		`{{ dig "a" "b" 1 .imports.password }}`, `{{ dig .imports.password "b" 1 (dict .imports.password "x") }}`, `{{ index .imports .imports.password .imports.password }}`,
		`{{ index (list 1) .imports.number }}`, `{{ slice (list 1 2) .imports.number }}`, `{{ substr 0 5 .imports.short }}{{ substr (int .imports.number) 2 .imports.short }}`,
		`{{ repeat .imports.number .imports.password }}`, `{{ until .imports.number }}`, `{{ upper .imports.number }}`, `{{ trunc .imports.password "x" }}`,
		`{{ eq .imports.password 1 }}`, `{{ lt .imports.password 1 }}`, `{{ eq .imports.keys .imports.keys }}`, `{{ len .imports.number }}`, `{{ first .imports.password }}`,
		`{{ atoi .imports.password | div 1 }}`, `{{ div 1 (.imports.password | upper | atoi) }}`, `{{ include .imports.password . }}`, `{{ readFile .imports.password }}`, `{{ readDir .imports.password }}`,
		`{{ readFile (printf "dir/%s" .imports.short) }}`, `{{ include (b64enc .imports.password) . }}`, `{{ randInt .imports.number 1 }}`, `{{ genPrivateKey .imports.password | fail }}`, `{{ hasKey .imports.password "x" }}`,
		`{{ (semver "1.0.0").SetPrerelease .imports.url }}`, `{{ call .imports.password }}`, `{{ b64dec .imports.password | fail }}`, `{{ derivePassword 1 .imports.password "a" "b" "c" | fail }}`, `{{ htpasswd .imports.url "a" | fail }}`,
		// Functions of the caller.
		`{{ echo .imports.password }}`, `{{ echo .imports.short }}`, `{{ echo .imports.digits }}`, `{{ echo .imports.number }}`, `{{ echo .imports.target }}`, `{{ echo (.imports.password | b64enc) }}`,
		`{{ echo (.imports.password | upper) }}`, `{{ refuse .imports.target }}`, `{{ echo now }}`,
		// The language.
		`{{ range .imports.password }}{{ end }}`, `{{ range $i, $x := .imports.number }}{{ end }}`, `{{ range .imports.fraction }}{{ end }}`, `{{ .imports.password.x }}`, `{{ .imports.number.x }}`,
		`{{ .imports.password "x" }}`, `{{ template "x" .imports.password }}`, `{{ .imports.target.spec.config.kubeconfig.token }}`, `{{ with .imports.password }}{{ .x.y }}{{ end }}`,
		`{{ tpl .imports.template . }}`, `{{ tpl .imports.authored . }}`, `{{ tpl (printf "{{ %s }}" .imports.duration) . }}`, `{{ tpl (printf "{{ fail %q }}" .imports.password) . }}`, `{{ include "fails.tpl" .imports }}`,
		`{{ $x := .imports.password }}{{ $x.y }}`, `{{ printf .imports.password 1 | fail }}`, `{{ index .imports.keys "none" }}`,
		// Output that is not a document, or the wrong one.
		`deployItems: {{ .imports.password }}: x`, "deployItems:\n- name: a\n  x: {{ .imports.yaml }}\n", "x: {{ .imports.alias }}", `deployItems: {{ .imports.password }}`, `deployItems: [{{ .imports.password }}]`,
		`{{ .imports.password }}`, `- {{ .imports.password }}`, "deployItems:\n- name: {{ .imports.password }}\n  timeout: {{ .imports.duration }}", "deployItems:\n- name: {{ .imports.short }}\n  number: {{ .imports.password }}",
		"deployItems:\n- labels: {{ toJson .imports.keys }}", "deployItems:\n- number: {{ .imports.fraction }}", "deployItems:\n- number: {{ toJson .imports.target }}", "deployItems: {{ .imports.number }}",
		"a: {{ .imports.lines }}", "{{ toYaml .imports | indent 3 }}\n@x", "{{ include \"part.tpl\" .imports }}", "deployItems:\n- {{ .imports.password | quote }}: {{ .imports.short }}\n  timeout: x",
		"{{ .imports.password }}: 1\n{{ .imports.none }}", "x: {{ .imports.none }} {{ .imports.password }} {{ .imports.number }} {{ .imports.short }}", "{{ toYaml .imports }}\nx: {{ .imports.none }}\n{{ toYaml .imports | upper }}",
		"{{ .imports.password }}{{ include \"keep\" . }}: {{ .imports.none }}{{ .imports.short }}",
	} {
		t.Run(template, func(t *testing.T) {
			out, err := e.Execute(t.Context(), Input{
				Phase: DeployExecution, Executor: executor(t, v1alpha1.GOTemplateType, template),
				Bindings: map[string]any{"imports": secrets}, State: []byte("pw: Tr0ubador-Xk9\n"),
			})
			if err == nil {
				err = out.Decode(&struct {
					DeployItems []item `json:"deployItems"`
				}{})
			}
			switch {
			case err == nil:
				t.Errorf("%s does not fail", template)
			case len(leaks(err.Error())) > 0:
				t.Errorf("%s tells %q:\n%s", template, leaks(err.Error()), err)
			}
		})
	}
}

type item struct {
	Name    string            `json:"name"`
	Timeout *period           `json:"timeout"`
	Number  int               `json:"number"`
	Labels  map[string]string `json:"labels"`
}

// period is a duration whose error shows what it got.
type period time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *period) UnmarshalText(text []byte) error {
	d, err := time.ParseDuration(string(text))
	*p = period(d)
	return err
}

// echo fails with its arguments, as careless functions do.
func echo(_ context.Context, args []any) (any, error) {
	return nil, fmt.Errorf("cannot use %q and %v", args, args)
}

// refuse fails with a part of what is in its argument.
func refuse(_ context.Context, args []any) (any, error) {
	target, _ := args[0].(map[string]any)
	return nil, fmt.Errorf("no cluster at %v", target["spec"])
}

// TestSpiffLeaks does that with spiff templates and mappings.
func TestSpiffLeaks(t *testing.T) {
	functions := map[string]Function{"echo": echo, "refuse": refuse}
	e := &Engine{Files: fileTree(nil), Functions: Functions{Spiff: functions}}
	for _, expression := range []string{
		`error(imports.password)`, `error("bad " imports.password)`, `error("%s", imports.short)`, `imports.password + 1`, `integer(imports.password)`,
		`imports.nope[imports.password]`, `imports.[imports.password]`, `parse(imports.yaml)`, `parse(imports.json, "yaml")`, `semver(imports.password)`, `base64_decode(imports.url)`, `eval(imports.pattern)`,
		`read(imports.password)`, `echo(imports.password)`, `echo(imports.short)`, `echo(imports.number)`, `echo(imports.target)`, `refuse(imports.target)`, `echo(upper(imports.password))`, `match(imports.pattern, "x")`,
		`validate(imports.password, ["value", "x"])`, `imports.password.x`, `[1..imports.password]`, `catch[error(imports.password)|v,e|->error(e)]`, `imports.number / 0`, `imports.lines - 1`, `element(imports.keys, imports.short)`,
		`echo(base64(imports.password))`, `format("%d", imports.password) imports.none`,
	} {
		t.Run(expression, func(t *testing.T) {
			template := map[string]any{"deployItems": []any{map[string]any{"name": "(( " + expression + " ))"}}}
			_, err := e.Execute(t.Context(), Input{
				Phase: DeployExecution, Executor: executor(t, v1alpha1.SpiffTemplateType, template),
				Bindings: map[string]any{"imports": secrets}, State: []byte("pw: Tr0ubador-Xk9\n"),
			})
			_, mapErr := Mapping(t.Context(), "import mapping template shop.a", v1alpha1.NewAnyJSON([]byte(fmt.Sprintf("%q", "(( "+expression+" ))"))), map[string]any{"imports": secrets}, functions)
			_, keyErr := Mapping(t.Context(), "import mapping template shop.b", v1alpha1.NewAnyJSON([]byte(fmt.Sprintf("%q", "(( "+strings.ReplaceAll(expression, "imports.", "cd.")+" ))"))), map[string]any{"cd": secrets["keys"], "state": secrets}, functions)
			for _, err := range []error{err, mapErr, keyErr} {
				switch {
				case err == nil:
					t.Errorf("%s does not fail", expression)
				case len(leaks(err.Error())) > 0:
					t.Errorf("%s tells %q:\n%s", expression, leaks(err.Error()), err)
				}
			}
		})
	}
	for _, result := range []string{`deployItems: (( imports.password ))`, `deployItems: [{name: a, timeout: (( imports.duration ))}]`, `deployItems: [{labels: (( imports.keys ))}]`, `(( imports.password ))`, `deployItems: [{number: (( imports.fraction ))}]`} {
		t.Run(result, func(t *testing.T) {
			out, err := e.Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor(t, v1alpha1.SpiffTemplateType, result), Bindings: map[string]any{"imports": secrets}})
			if err == nil {
				err = out.Decode(&struct {
					DeployItems []item `json:"deployItems"`
				}{})
			}
			if err == nil || len(leaks(err.Error())) > 0 {
				t.Errorf("%s tells %q: %v", result, leaks(fmt.Sprint(err)), err)
			}
		})
	}
}
