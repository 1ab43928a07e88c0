package template

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

// TestHostile renders templates that try to run, print or grow without end.
func TestHostile(t *testing.T) {
	bindings := map[string]any{"imports": map[string]any{"l": make([]any, 1000), "t": `{{ tpl .imports.t . }}`}}
	double := func(start, step string) string {
		return `{{ $x := ` + start + ` }}{{ range until 60 }}{{ $x = ` + step + ` }}{{ end }}`
	}
	files := map[string]string{
		"loop.tpl": `{{ include "loop.tpl" . }}`, "a.tpl": `{{ include "b.tpl" . }}`, "b.tpl": `{{ include "./a.tpl" . }}`,
		"twice.tpl": `{{ include "twice.tpl" . }}{{ include "twice.tpl" . }}`,
	}
	ended(t, execution{Type: v1alpha1.GOTemplateType, Files: files, Steps: 200_000, Bindings: bindings}, []attack{
		{"a loop over a large number", `{{ range 9223372036854775807 }}{{ end }}`, "steps"},
		{"loops in loops without output", `{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}`, "steps"},
		{"loops over a binding in loops", `{{ define "l" }}{{ range $a := .imports.l }}{{ range $.imports.l }}{{ range $.imports.l }}{{ range $.imports.l }}{{ range $.imports.l }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ end }}{{ template "l" . }}`, "steps"},
		{"a loop with continue", `{{ range 9223372036854775807 }}{{ continue }}{{ end }}`, "steps"},
		{"a loop in an else branch", `{{ range .imports.none }}{{ else }}{{ range 9223372036854775807 }}{{ end }}{{ end }}`, "steps"},
		{"a loop in with and if", `{{ with 1 }}{{ if . }}{{ range 9223372036854775807 }}{{ end }}{{ end }}{{ end }}`, "steps"},
		{"a template that calls itself", `{{ define "r" }}{{ template "r" . }}{{ end }}{{ template "r" . }}`, "named templates call each other more than 1000 levels deep"},
		{"a template that calls itself twice", `{{ define "r" }}{{ if gt . 0 }}{{ template "r" (sub . 1) }}{{ template "r" (sub . 1) }}{{ end }}{{ end }}{{ template "r" 60 }}`, "steps"},
		{"a file that includes itself", `{{ include "loop.tpl" . }}`, "nested reference name: loop.tpl"},
		{"files that include each other", `{{ include "a.tpl" . }}`, "nested reference name"},
		{"a file that includes itself twice", `{{ include "twice.tpl" . }}`, "nested reference name"},
		{"a text that is a template of itself", `{{ define "x" }}{{ end }}{{ tpl .imports.t . }}`, "nested reference name"},
		{"printing without end", `{{ range 9223372036854775807 }}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{{ end }}`, "steps"},
		{"printing large texts", `{{ range until 5000 }}{{ repeat 10000 "x" }}{{ end }}`, tooMuch},
		{"a text repeated", `{{ repeat 1000000000 "x" }}`, tooMuch},
		{"a text repeated again and again", `{{ repeat 4000 (repeat 4000 (repeat 4000 "x")) }}`, tooMuch},
		{"large texts that are not printed", `{{ range until 100000 }}{{ $x := repeat 10000000 "x" }}{{ end }}`, tooMuch},
		{"a text that doubles by printf", double(`"ab"`, `printf "%s%s" $x $x`), tooMuch},
		{"a text that doubles by cat", double(`"ab"`, `cat $x $x`), tooMuch},
		{"a text that doubles by print", double(`"ab"`, `print $x $x`), tooMuch},
		{"a text that doubles by quote", double(`"ab"`, `quote $x $x`), tooMuch},
		{"a text that doubles by join", double(`"ab"`, `list $x $x | join ""`), tooMuch},
		{"a text that doubles by replace", double(`"ab"`, `replace "a" (printf "a%s" $x) $x`), tooMuch},
		{"a text that doubles by a template", double(`"ab"`, `tpl "{{ . }}{{ . }}" $x`), tooMuch},
		{"a list that doubles", double(`list 1`, `concat $x $x`), tooMuch},
		{"a list that shares its parts, as JSON", double(`list 1 2`, `list $x $x`) + `{{ toJson $x }}`, tooMuch},
		{"printed", double(`list 1 2`, `list $x $x`) + `{{ $x }}`, tooMuch},
		{"as YAML", double(`list 1 2`, `list $x $x`) + `{{ toYaml $x }}`, tooMuch},
		{"as text", double(`list 1 2`, `list $x $x`) + `{{ toString $x }}`, tooMuch},
		{"copied", double(`list 1 2`, `list $x $x`) + `{{ $y := deepCopy $x }}`, tooMuch},
		{"compared", double(`list 1 2`, `list $x $x`) + `{{ $y := deepEqual $x (list $x $x) }}`, ""},
		{"given to a function of the caller", double(`list 1 2`, `list $x $x`) + `{{ $y := added $x }}`, tooMuch},
		{"a map that contains itself, printed", `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ $d }}`, tooMuch},
		{"as JSON", `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ toJson $d }}`, "cannot be written as JSON"},
		{"as YAML", `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ toYaml $d }}`, "500 levels deep"},
		{"copied", `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ $_ := deepCopy $d }}`, tooMuch},
		{"merged", `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ $_ := merge (dict "a" (dict "a" (dict))) $d }}`, ""},
		{"formatted", `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ printf "%v" $d }}`, tooMuch},
		{"a list without end", `{{ until 1000000000 }}`, tooMuch},
		{"a list without end in steps", `{{ untilStep 0 1000000000000 1 }}`, tooMuch},
		{"backwards", `{{ untilStep 1000000000000 0 -1 }}`, tooMuch},
		{"a sequence without end", `{{ seq 1 1000000000000 }}`, tooMuch},
		{"a sequence in steps", `{{ seq 0 1 1000000000000 }}`, tooMuch},
		{"spaces", `{{ indent 1000000000 "x" }}`, tooMuch},
		{"spaces in many lines", `{{ indent 100000 (repeat 100000 "\n") }}`, tooMuch},
		{"random texts", `{{ randAlphaNum 1000000000 }}`, tooMuch},
		{"random bytes", `{{ randBytes 1000000000 }}`, tooMuch},
		{"a width", `{{ printf "%999999999d" 1 }}`, "the text is not YAML"},
		{"many widths", `{{ printf (repeat 1000 "%99999d") 1 }}`, "the root of the output must be a map"},
		{"a width as argument", `{{ printf "%*d%*d" 900000 1 900000 1 }}`, "the root of the output must be a map"},
		{"a precision", `{{ printf "%.999999999f" 1.0 }}`, "the text is not YAML"},
		{"a text many times", `{{ printf (repeat 100000 "%[1]s") (repeat 10000 "x") }}`, tooMuch},
		{"a separator", `{{ join (repeat 100000 "x") (until 100000) }}`, tooMuch},
		{"a break in every word", `{{ wrapWith 1 (repeat 100000 "x") (repeat 100000 "y") }}`, tooMuch},
		{"a replacement between all characters", `{{ replace "" (repeat 100000 "x") (repeat 100000 "y") }}`, tooMuch},
		{"a replacement by an expression", `{{ regexReplaceAll "" (repeat 10000 "y") (repeat 10000 "x") }}`, tooMuch},
		{"characters", `{{ splitList "" (repeat 10000000 "x") }}`, tooMuch},
		{"characters in a map", `{{ split "" (repeat 10000000 "x") }}`, tooMuch},
		{"a costly search", `{{ regexFindAll "(a*)*(a*)*(a*)*b|a" (repeat 10000000 "a") -1 }}`, tooMuch},
		{"a search that costs more with every match", `{{ regexReplaceAll "(a*)*(a*)*(a*)*b|a" (repeat 300000 "a") "c" }}`, tooMuch},
		{"a huge expression", `{{ mustRegexMatch "((a{1,100}){1,100}){1,100}" "a" }}`, "regular expression"},
		{"a long expression", `{{ mustRegexMatch (repeat 100000 "(a|b)") "a" }}`, "longer than 10000 bytes"},
		{"an expression with groups that each step copies", `{{ regexFind (repeat 1300 "(a|b)*") (repeat 9000 "a") }}`, "too complex"},
		{"aliases in YAML", "{{ fromYaml \"a: &a [x,x,x,x,x,x,x,x,x,x]\\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]\" }}", "not YAML"},
		{"nested YAML", `{{ fromYaml (repeat 100000 "[") }}`, "not YAML"},
		{"nested JSON", `{{ mustFromJson (repeat 100000 "[") }}`, "not JSON"},
		{"nested parentheses", "{{ " + strings.Repeat("(", 100000) + "1" + strings.Repeat(")", 100000) + " }}", "depth"},
		{"nested control structures", strings.Repeat("{{if 1}}", 100000) + strings.Repeat("{{end}}", 100000), "control structures"},
		{"nested branches", "{{if 1}}" + strings.Repeat("{{ else if 1 }}", 100000) + "{{end}}", "control structures"},
		{"a long template", strings.Repeat("x", 5<<20), "longer than"},
		{"a document of as many values as possible", `{{ repeat 700000 "- 1\n" }}`, "the root of the output must be a map"},
		{"a document of more values", `{{ repeat 1000000 "- 1\n" }}`, "more than 750000 values"},
		{"in a function", `{{ fromYaml (printf "[%s]" (repeat 2000000 "1,")) }}`, "more than 750000 values"},
		{"as JSON", `{{ fromJson (printf "[%s1]" (repeat 2000000 "1,")) | len }}{{ fail "end" }}`, "end"},
		{"missing values without end", `{{ range 30000 }}{{ $.none }}{{ "\n" }}{{ end }}`, "more\ntemplate input"},
		{"in a long template", `{{ .none }}` + strings.Repeat("a: {{ \"text\" }} some words\n", 20000), "no value"},
		{"a quadratic comparison", `{{ until 900000 | uniq | len }}`, tooMuch},
	})
}

// TestDeadline renders templates that would run for long within all other limits.
func TestDeadline(t *testing.T) {
	templates := map[string]string{
		"a loop":     `{{ range 9223372036854775807 }}{{ end }}`,
		"a function": `{{ wait }}`,
		"keys":       `{{ range until 1000 }}{{ $x := bcrypt "a" }}{{ end }}`,
	}
	wait := func(ctx context.Context, _ []any) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	e := &Engine{Timeout: 50 * time.Millisecond, steps: 1 << 40, Functions: Functions{
		GoTemplate: map[string]Function{"wait": wait}, Spiff: map[string]Function{"wait": wait},
	}}
	for reason, template := range templates {
		t.Run(reason, func(t *testing.T) {
			if _, err := rendered(t, e, template, nil); err == nil || !strings.Contains(err.Error(), "takes longer than 50ms") {
				t.Error(err)
			}
		})
	}
	for _, template := range []string{"x: (( wait() ))", "f: (( |x|->x < 2 ? x :_(x - 1) + _(x - 2) ))\nx: (( .f(60) ))"} {
		_, err := e.Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor(t, v1alpha1.SpiffTemplateType, template)})
		if err == nil {
			t.Errorf("%s ends", template)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := e.Execute(ctx, Input{Phase: DeployExecution, Executor: executor(t, v1alpha1.GOTemplateType, templates["a loop"])})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "rendering was cancelled") {
		t.Errorf("cancelled: %v", err)
	}
}

// TestHostileSpiff checks that the bounds of the language are in force.
func TestHostileSpiff(t *testing.T) {
	ended(t, execution{Type: v1alpha1.SpiffTemplateType, Files: map[string]string{"a": "b"}}, []attack{
		{"endless recursion", "f: (( &temporary(|x|->_(x + 1)) ))\nx: (( .f(1) ))", "nested deeper than 1000 levels"},
		{"a list that grows", "x: (( sum[[1..100000]|[1]|s,i|->s s] ))", tooMuch},
		{"a text that grows", `x: (( sum[[1..60]|"0123456789"|s,i|->s s] ))`, tooMuch},
		{"the environment", `x: (( env("PATH") ))`, "env"},
		{"a program", `x: (( exec("ls") ))`, "exec"},
		{"the network", `x: (( read("http://localhost:1/") ))`, "read"},
		{"a file of the machine", `x: (( read("/etc/passwd") ))`, "read"},
		{"writing", `x: (( write("a", "b") ))`, "write"},
	})
}

// TestPanic checks that nothing that a template does ends the process.
func TestPanic(t *testing.T) {
	crash := func(context.Context, []any) (any, error) { panic("hunter2") }
	e := &Engine{Functions: Functions{GoTemplate: map[string]Function{"crash": crash}, Spiff: map[string]Function{"crash": crash}}}
	for _, template := range []string{
		`{{ crash }}`, `{{ div 1 0 }}`, `{{ mod 1 0 }}`, `{{ first 5 }}`, `{{ dig "a" }}`, `{{ dig "a" "b" 1 (dict "a" 5) }}`, `{{ substr 5 2 "abc" }}`,
		`{{ slice (list 1) 5 2 }}`, `{{ chunk 0 (list 1) }}`, `{{ randInt 5 5 }}`, `{{ regexFind "(" "a" }}`, `{{ urlParse "://%zz" }}`, `{{ append nil 1 }}`,
		`{{ repeat -1 "a" }}`, `{{ indent -1 "a" }}`, `{{ empty (now) }}{{ fail "end" }}`, `{{ concat 5 }}`, `{{ deepCopy nil }}{{ fail "end" }}`, `{{ semver "x" }}`, `{{ index (list 1) 7 }}`,
		`{{ (now).Format }}`, `{{ index nil 1 }}`, `{{ len 5 }}`, `{{ call "x" }}`, `{{ decryptAES "a" "b" }}`, `{{ toDate "x" }}`, `{{ trunc 1 }}`, `{{ upper nil }}`,
	} {
		t.Run(template, func(t *testing.T) {
			_, err := rendered(t, e, template, nil)
			if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "default:1") {
				t.Errorf("%s: %v", template, err)
			}
		})
	}
	_, err := e.Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor(t, v1alpha1.SpiffTemplateType, "x: (( crash() ))")})
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("spiff: %v", err)
	}
}
