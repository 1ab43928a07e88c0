package template

import (
	"strings"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
)

// TestHostileCalls: single calls that would run for minutes or take all memory. No
// check between calls ends these; the process does, or they are fast.
func TestHostileCalls(t *testing.T) {
	const digits = `{{ $n := fromJson (printf "1%s" (repeat 3000000 "0")) }}`
	ended(t, execution{Type: v1alpha1.GOTemplateType}, []attack{
		{"steps that lead beyond the largest integer and around again", `{{ untilStep 0 9223372036854775807 9223372036854775806 }}`, tooMuch},
		{"steps that lead below the smallest integer and around again", `{{ untilStep 0 -9223372036854775807 -9223372036854775806 }}`, tooMuch},
		{"a sequence of such steps", `{{ seq 9223372036854775797 8 9223372036854775802 }}`, "the root of the output must be a map"},
		{"as many characters to trim as there are in the text", `{{ trimAll (printf "%sb" (repeat 2000000 "世")) (repeat 8000000 "b") }}`, tooMuch},
		{"under its other name", `{{ trimall (printf "%sb" (repeat 2000000 "世")) (repeat 8000000 "b") }}`, tooMuch},
		{"numbers of millions of digits, compared", digits + `{{ range until 100 }}{{ if lt $n 5 }}{{ end }}{{ end }}{{ fail "end" }}`, "end"},
		{"searched", digits + `{{ range until 100 }}{{ if has $n (list 1 $n) }}{{ end }}{{ end }}{{ fail "end" }}`, "end"},
		{"printed as integer", digits + `{{ printf "%d" $n }}`, tooMuch},
		{"printed as float", digits + `{{ range until 20 }}{{ printf "%.0f" $n }}{{ end }}`, tooMuch},
		{"an expression that is short and has millions of states", `{{ mustRegexMatch (repeat 500 "[a-z]{900}") "a" }}`, "too complex"},
		{"huge exponents", `{{ if lt (fromJson "1e2000000000") 5 }}{{ end }}{{ fail "end" }}`, "end"},
	})
}

// TestHostileArguments: functions that make much of short arguments.
func TestHostileArguments(t *testing.T) {
	const (
		printed = "error while decoding" // it is no document
		lists   = `{{ $some := list }}{{ $others := list }}{{ range $i := until 400 }}{{ $some = append $some (append (until 999) $i) }}{{ $others = append $others (append (until 999) (sub -1 $i)) }}{{ end }}`
	)
	ended(t, execution{Type: v1alpha1.GOTemplateType}, []attack{
		{"lists that differ in their last element, each once", lists + `{{ uniq $some | len }}`, printed},
		{"without others", lists + `{{ range $others }}{{ $some = without $some . }}{{ end }}{{ len $some }}`, printed},
		{"a huge width", `{{ printf "%99999999d" 1 }}`, printed},
		{"many widths", `{{ printf (repeat 200 "%9999[1]d") 1 }}`, printed},
		{"a huge width from an argument", `{{ printf "%*d" 1099511627776 1 }}`, printed},
		{"a huge precision", `{{ printf "%.2000000f" 1.0 }}`, printed},
		{"a long text many times", `{{ printf (repeat 200000 "%[1]s") (repeat 1000 "a") }}`, tooMuch},
		{"a large number many times", `{{ printf (repeat 1000000 "%[1]f") 1e308 }}`, tooMuch},
		{"a short number with endless digits", `{{ printf "%f" (fromJson "1e100000000") }}`, printed},
		{"a short number with endless digits behind the point", `{{ printf "%g" (fromJson "1e-100000000") }}`, printed},
		{"a number with a thousand digits many times", `{{ printf (repeat 1000000 "%[1]f") (fromJson "1e900") }}`, tooMuch},
		{"a large negative number many times", `{{ printf (repeat 1000000 "%[1]f") -1e308 }}`, tooMuch},
		{"a text a huge number of times", `{{ repeat 1099511627776 "a" }}`, tooMuch},
		{"a huge list of numbers", `{{ until 1099511627776 }}`, tooMuch},
		{"a huge list of numbers downwards", `{{ untilStep 0 -1099511627776 -1 }}`, tooMuch},
		{"a step that leads around", `{{ untilStep 0 10 9223372036854775807 }}`, printed},
		{"a huge sequence", `{{ seq 0 1 1099511627776 }}`, tooMuch},
		{"a huge indentation", `{{ indent 1099511627776 "a" }}`, tooMuch},
		{"replacing nothing by much", `{{ replace "" (repeat 50000 "a") (repeat 50000 "b") }}`, tooMuch},
		{"wrapping at every character with much", `{{ wrapWith 1 (repeat 50000 "a") (repeat 50000 "b") }}`, tooMuch},
		{"trimming with a long set", `{{ trimAll (repeat 200000 "ab") (printf "%s%s" (repeat 200000 "c") (repeat 400000 "b")) }}`, printed},
		{"a long random text", `{{ randAlphaNum 1048576 }}`, printed},
		{"a search in a long text", `{{ regexFind "(a|b){1,50}" (repeat 1048576 "a") }}`, printed},
		{"a long replacement at every character", `{{ regexReplaceAllLiteral "" (repeat 50000 "a") (repeat 50000 "b") }}`, tooMuch},
	})
}

// TestHostileSpiffCalls has calls of spiff.
func TestHostileSpiffCalls(t *testing.T) {
	const long = "l: (( &temporary ( sum[[1..18]|\"世世\"|s,i|->s s] ) ))\nb: (( &temporary ( sum[[1..20]|\"bb\"|s,i|->s s] ) ))\n"
	ended(t, execution{Type: v1alpha1.SpiffTemplateType}, []attack{
		{"as many characters to trim as there are in the text", long + `x: (( trim(b, join("", [l, "b"])) ))`, tooMuch},
		{"in a list", long + `x: (( trim([b, b], join("", [l, "b"])) ))`, tooMuch},
		{"a password of megabytes", long + `x: (( md5crypt(b) ))`, tooMuch},
		{"checked", long + `x: (( md5crypt_check(b, "$apr1$abcdefgh$aaaaaaaaaaaaaaaaaaaaaa") ))`, tooMuch},
	})
}

// TestComputedExpressions: what a text says that is evaluated is a value, too.
func TestComputedExpressions(t *testing.T) {
	bindings := map[string]any{"imports": map[string]any{"s": "Tr0ubador_Xk9", "t": "Tr0ubador_Xk9 +", "u": `Tr0ubador_Xk9("x")`}}
	for template, want := range map[string]string{
		"x: (( eval(imports.s) ))":            "details are left out",
		"x: (( eval(imports.t) ))":            "details are left out",
		"x: (( eval(imports.u) ))":            "details are left out",
		`x: (( eval("imports." imports.s) ))`: "details are left out",
		`x: (( eval("misspelt") ))`:           "'misspelt' not found",
		`x: (( eval(imports.s) || "else" ))`:  "",
	} {
		t.Run(template, func(t *testing.T) {
			_, err := (&Engine{}).Execute(t.Context(), Input{Phase: DeployExecution, Bindings: bindings, Executor: executor(t, v1alpha1.SpiffTemplateType, template)})
			switch {
			case want == "" && err != nil:
				t.Error(err)
			case want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Tr0ubador")):
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}
