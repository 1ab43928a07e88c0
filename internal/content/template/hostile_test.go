package template

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

// hostileMemory is the memory that a hostile template may use for a moment.
const hostileMemory = 384 << 20

// TestHostile renders templates that try to run, print or grow without end.
func TestHostile(t *testing.T) {
	double := func(start, step string) string {
		return `{{ $x := ` + start + ` }}{{ range until 60 }}{{ $x = ` + step + ` }}{{ end }}`
	}
	files := fileTree(map[string]string{
		"loop.tpl": `{{ include "loop.tpl" . }}`, "a.tpl": `{{ include "b.tpl" . }}`, "b.tpl": `{{ include "./a.tpl" . }}`,
		"twice.tpl": `{{ include "twice.tpl" . }}{{ include "twice.tpl" . }}`,
	})
	tests := []struct{ reason, template, want string }{
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
		{"printing without end", `{{ range 9223372036854775807 }}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{{ end }}`, "prints more than 4194304 bytes"},
		{"printing large texts", `{{ range until 5000 }}{{ repeat 10000 "x" }}{{ end }}`, "prints more than"},
		{"a text repeated", `{{ repeat 1000000000 "x" }}`, "longer than 16777216 bytes"},
		{"a text repeated again and again", `{{ repeat 4000 (repeat 4000 (repeat 4000 "x")) }}`, "longer than"},
		{"large texts that are not printed", `{{ range until 100000 }}{{ $x := repeat 10000000 "x" }}{{ end }}`, "more than 268435456 bytes"},
		{"a text that doubles by printf", double(`"ab"`, `printf "%s%s" $x $x`), "longer than"},
		{"a text that doubles by cat", double(`"ab"`, `cat $x $x`), "longer than"},
		{"a text that doubles by print", double(`"ab"`, `print $x $x`), "longer than"},
		{"a text that doubles by quote", double(`"ab"`, `quote $x $x`), "longer than"},
		{"a text that doubles by join", double(`"ab"`, `list $x $x | join ""`), "longer than"},
		{"a text that doubles by replace", double(`"ab"`, `replace "a" (printf "a%s" $x) $x`), "longer than"},
		{"a text that doubles by a template", double(`"ab"`, `tpl "{{ . }}{{ . }}" $x`), "prints more than"},
		{"a list that doubles", double(`list 1`, `concat $x $x`), "longer than"},
		{"a list that shares its parts, as JSON", double(`list 1 2`, `list $x $x`) + `{{ toJson $x }}`, "longer than"},
		{"printed", double(`list 1 2`, `list $x $x`) + `{{ $x }}`, "longer than"},
		{"as YAML", double(`list 1 2`, `list $x $x`) + `{{ toYaml $x }}`, "longer than"},
		{"as text", double(`list 1 2`, `list $x $x`) + `{{ toString $x }}`, "longer than"},
		{"copied", double(`list 1 2`, `list $x $x`) + `{{ $y := deepCopy $x }}`, "longer than"},
		{"compared", double(`list 1 2`, `list $x $x`) + `{{ $y := deepEqual $x (list $x $x) }}`, "longer than"},
		{"given to a function of the caller", double(`list 1 2`, `list $x $x`) + `{{ $y := added $x }}`, "longer than"},
		{"a map that contains itself, printed", `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ $d }}`, "contains itself"},
		{"as JSON", `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ toJson $d }}`, "contains itself"},
		{"as YAML", `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ toYaml $d }}`, "contains itself"},
		{"copied", `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ $_ := deepCopy $d }}`, "contains itself"},
		{"merged", `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ $_ := merge (dict "a" (dict "a" (dict))) $d }}`, "contains itself"},
		{"formatted", `{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ printf "%v" $d }}`, "contains itself"},
		{"a list without end", `{{ until 1000000000 }}`, "longer than 1000000 entries"},
		{"a list without end in steps", `{{ untilStep 0 1000000000000 1 }}`, "longer than 1000000 entries"},
		{"backwards", `{{ untilStep 1000000000000 0 -1 }}`, "longer than 1000000 entries"},
		{"a sequence without end", `{{ seq 1 1000000000000 }}`, "longer than 1000000 entries"},
		{"a sequence in steps", `{{ seq 0 1 1000000000000 }}`, "longer than 1000000 entries"},
		{"spaces", `{{ indent 1000000000 "x" }}`, "longer than"},
		{"spaces in many lines", `{{ indent 100000 (repeat 100000 "\n") }}`, "longer than"},
		{"random texts", `{{ randAlphaNum 1000000000 }}`, "random texts have at most 65536 characters"},
		{"random bytes", `{{ randBytes 1000000000 }}`, "random texts"},
		{"a width", `{{ printf "%999999999d" 1 }}`, "widths"},
		{"many widths", `{{ printf (repeat 1000 "%99999d") 1 }}`, "widths"},
		{"a width as argument", `{{ printf "%*d%*d" 900000 1 900000 1 }}`, "widths"},
		{"a precision", `{{ printf "%.999999999f" 1.0 }}`, "widths"},
		{"a text many times", `{{ printf (repeat 100000 "%[1]s") (repeat 10000 "x") }}`, "longer than"},
		{"a separator", `{{ join (repeat 100000 "x") (until 100000) }}`, "longer than"},
		{"a break in every word", `{{ wrapWith 1 (repeat 100000 "x") (repeat 100000 "y") }}`, "longer than"},
		{"a replacement between all characters", `{{ replace "" (repeat 100000 "x") (repeat 100000 "y") }}`, "longer than"},
		{"a replacement by an expression", `{{ regexReplaceAll "" (repeat 10000 "y") (repeat 10000 "x") }}`, "longer than"},
		{"characters", `{{ splitList "" (repeat 10000000 "x") }}`, "entries"},
		{"characters in a map", `{{ split "" (repeat 10000000 "x") }}`, "entries"},
		{"a costly search", `{{ regexFindAll "(a*)*(a*)*(a*)*b|a" (repeat 10000000 "a") -1 }}`, "too costly"},
		{"a search that costs more with every match", `{{ regexReplaceAll "(a*)*(a*)*(a*)*b|a" (repeat 300000 "a") "c" }}`, "the regular expression"},
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
		{"as JSON", `{{ fromJson (printf "[%s1]" (repeat 2000000 "1,")) | len }}{{ fail "end" }}`, "more than 750000 values"},
		{"missing values without end", `{{ range 30000 }}{{ $.none }}{{ "\n" }}{{ end }}`, "more\ntemplate input"},
		{"in a long template", `{{ .none }}` + strings.Repeat("a: {{ \"text\" }} some words\n", 20000), "no value"},
		{"a quadratic comparison", `{{ until 900000 | uniq | len }}`, "steps"},
	}
	e := &Engine{Files: files, Functions: Functions{GoTemplate: map[string]Function{"added": constant(1)}}, Timeout: untimed}
	few := *e
	few.steps = 200_000
	bindings := map[string]any{"imports": map[string]any{"l": make([]any, 1000), "t": `{{ tpl .imports.t . }}`}}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			runtime.GC()
			peak := watchMemory()
			_, err := evaluate(t, &few, test.template, bindings)
			used := peak()
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %.2000v, want %q", err, test.want)
			}
			if used > hostileMemory {
				t.Errorf("it uses %d MiB", used>>20)
			}
		})
	}
}

// watchMemory samples the memory in use until the returned function is called,
// which gives the highest value.
func watchMemory() func() uint64 {
	stop, done := make(chan struct{}), make(chan uint64)
	go func() {
		var highest uint64
		ticker := time.NewTicker(5 * time.Millisecond)
		defer ticker.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			highest = max(highest, m.HeapInuse+m.StackInuse)
			select {
			case <-stop:
				done <- highest
				return
			case <-ticker.C:
			}
		}
	}()
	return func() uint64 { close(stop); return <-done }
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
	tests := []struct{ reason, template, want string }{
		{"endless recursion", "f: (( &temporary(|x|->_(x + 1)) ))\nx: (( .f(1) ))", "nested deeper than 1000 levels"},
		{"a list that grows", "x: (( sum[[1..100000]|[1]|s,i|->s s] ))", "list is longer"},
		{"a text that grows", `x: (( sum[[1..60]|"0123456789"|s,i|->s s] ))`, "text is longer"},
		{"the environment", `x: (( env("PATH") ))`, "env"},
		{"a program", `x: (( exec("ls") ))`, "exec"},
		{"the network", `x: (( read("http://localhost:1/") ))`, "read"},
		{"a file of the machine", `x: (( read("/etc/passwd") ))`, "read"},
		{"writing", `x: (( write("a", "b") ))`, "write"},
	}
	e := &Engine{Files: fileTree(map[string]string{"a": "b"})}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			_, err := e.Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor(t, v1alpha1.SpiffTemplateType, test.template)})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Error(err)
			}
		})
	}
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
