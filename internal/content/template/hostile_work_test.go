package template

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
)

// TestHostileCalls: single calls that would run for minutes or take all memory. No
// check between calls ends these; the functions must refuse, or be fast.
func TestHostileCalls(t *testing.T) {
	const digits = `{{ $n := fromJson (printf "1%s" (repeat 3000000 "0")) }}`
	tests := []struct{ reason, template, want string }{
		{"steps that lead beyond the largest integer and around again", `{{ untilStep 0 9223372036854775807 9223372036854775806 }}`, "longer than 1000000 entries"},
		{"steps that lead below the smallest integer and around again", `{{ untilStep 0 -9223372036854775807 -9223372036854775806 }}`, "longer than 1000000 entries"},
		{"a sequence of such steps", `{{ seq 9223372036854775797 8 9223372036854775802 }}`, "longer than 1000000 entries"},
		{"as many characters to trim as there are in the text", `{{ trimAll (printf "%sb" (repeat 2000000 "世")) (repeat 8000000 "b") }}`, "steps"},
		{"under its other name", `{{ trimall (printf "%sb" (repeat 2000000 "世")) (repeat 8000000 "b") }}`, "steps"},
		{"numbers of millions of digits, compared", digits + `{{ range until 100 }}{{ if lt $n 5 }}{{ end }}{{ end }}{{ fail "end" }}`, "end"},
		{"searched", digits + `{{ range until 100 }}{{ if has $n (list 1 $n) }}{{ end }}{{ end }}{{ fail "end" }}`, "end"},
		{"printed as integer", digits + `{{ printf "%d" $n }}`, "more than 1000 digits"},
		{"printed as float", digits + `{{ printf "%.0f" $n }}`, "more than 1000 digits"},
		{"an expression that is short and has millions of states", `{{ mustRegexMatch (repeat 500 "[a-z]{900}") "a" }}`, "too complex"},
		{"huge exponents", `{{ if lt (fromJson "1e2000000000") 5 }}{{ end }}{{ fail "end" }}`, "end"},
	}
	e := &Engine{Timeout: untimed}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			if err := within(t, func() error { _, err := evaluate(t, e, test.template, nil); return err }); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %.500v, want %q", err, test.want)
			}
		})
	}
}

// TestHostileSpiffCalls is the same for spiff.
func TestHostileSpiffCalls(t *testing.T) {
	const long = "l: (( &temporary ( sum[[1..18]|\"世世\"|s,i|->s s] ) ))\nb: (( &temporary ( sum[[1..20]|\"bb\"|s,i|->s s] ) ))\n"
	tests := []struct{ reason, template, want string }{
		{"as many characters to trim as there are in the text", long + `x: (( trim(b, join("", [l, "b"])) ))`, "steps"},
		{"in a list", long + `x: (( trim([b, b], join("", [l, "b"])) ))`, "steps"},
		{"a password of megabytes", long + `x: (( md5crypt(b) ))`, "steps"},
		{"checked", long + `x: (( md5crypt_check(b, "$apr1$abcdefgh$aaaaaaaaaaaaaaaaaaaaaa") ))`, "steps"},
	}
	e := &Engine{}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			err := within(t, func() error {
				_, err := e.Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor(t, v1alpha1.SpiffTemplateType, test.template)})
				return err
			})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %.500v, want %q", err, test.want)
			}
		})
	}
}

// untimed is the time limit of an engine whose other limits are tested: also on a machine
// that has little time for the test, they are reached before.
const untimed = 5 * time.Minute

// within fails a test whose call computes for too long, or does not come back: the limit
// is far above what the call needs, and far below what it took without protection.
func within(t *testing.T, call func() error) error {
	t.Helper()
	before := spentCPU(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*untimed)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- call() }()
	select {
	case err := <-done:
		if spent := spentCPU(t) - before; spent > time.Minute {
			t.Errorf("it takes %s of CPU", spent)
		}
		return err
	case <-ctx.Done():
		t.Fatal("the call does not come back")
		return nil
	}
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
