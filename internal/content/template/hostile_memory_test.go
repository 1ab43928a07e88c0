package template

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/content/template/memlimit"
)

const (
	// produced is what a rendering may make in these tests: the less, the sooner they
	// are over.
	produced = 8 << 20
	// keptMemory is what the process may use then: some of it is garbage that was not
	// collected yet, and the rest is of the tests. Without a limit each of the templates
	// takes a multiple.
	keptMemory = 96 << 20
)

// TestHostileMemory keeps what functions make, in variables, lists and maps. Each
// result is small by itself or large in its depth only.
func TestHostileMemory(t *testing.T) {
	const (
		deep  = `{{ $text := printf "[%s{}]" (repeat 100000 "{},") }}`
		keep  = `{{ $kept := list }}{{ range until 400 }}{{ $kept = append $kept (%s) }}{{ end }}`
		limit = "makes more than 8388608 bytes"
	)
	tests := []struct{ reason, template, want string }{
		{"values of JSON", deep + fmt.Sprintf(keep, `fromJson $text`), limit},
		{"values of JSON, kept by a map", deep + `{{ $d := dict }}{{ range until 400 }}{{ $_ := set $d (toString .) (mustFromJson $text) }}{{ end }}`, limit},
		{"maps with one key", `{{ $text := printf "[%s{}]" (repeat 50000 "{\"a\":1},") }}` + fmt.Sprintf(keep, `fromJson $text`), limit},
		{"values of YAML", deep + fmt.Sprintf(keep, `fromYaml $text`), limit},
		{"copies", deep + `{{ $v := fromJson $text }}` + fmt.Sprintf(keep, `deepCopy $v`), limit},
		{"results of a function of the caller", fmt.Sprintf(keep, `large`), limit},
		{"pieces of a text", `{{ $text := repeat 300000 "a," }}` + fmt.Sprintf(keep, `splitList "," $text`), limit},
		{"pieces in a map", `{{ $text := repeat 100000 "a," }}` + fmt.Sprintf(keep, `split "," $text`), limit},
		{"numbers", fmt.Sprintf(keep, `until 500000`), limit},
		{"small maps", `{{ $kept := list }}{{ range until 20000 }}{{ $kept = prepend (list $kept) (dict "a" 1) }}{{ range until 20 }}{{ $kept = list (dict "a" $kept) }}{{ end }}{{ end }}`, limit},
		{"a map that grows key by key", `{{ $d := dict }}{{ range until 900000 }}{{ $o := . }}{{ range until 9 }}{{ $_ := set $d (printf "%d-%d" $o .) $o }}{{ end }}{{ end }}`, limit},
		{"a map that grows by merging", `{{ $d := dict }}{{ $v := dict }}{{ range until 1000 }}{{ $_ := set $v (toString .) . }}{{ end }}{{ range until 10000 }}{{ $_ := merge $d (dict (toString .) (merge (dict) $v)) }}{{ end }}`, limit},
		{"templates that templates make", `{{ range until 5000 }}{{ $x := tpl (printf "%d{{ 1 | add 2 | quote }}" .) $ }}{{ end }}{{ fail "end" }}`, "end"},
		{"a long template", strings.Repeat(`{{1}}`, 100_000), limit},
		{"a long action", `{{ $x := list ` + strings.Repeat(`1 `, 600_000) + `}}`, limit},
	}
	large := func(context.Context, []any) (any, error) {
		list := make([]any, 50_000)
		for i := range list {
			list[i] = map[string]any{"a": int64(i)}
		}
		return list, nil
	}
	e := &Engine{produced: produced, Functions: Functions{GoTemplate: map[string]Function{"large": large}}}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			measured(t, test.want, func() error {
				_, err := evaluate(t, e, test.template, map[string]any{"imports": map[string]any{}})
				return err
			})
		})
	}
}

// TestHostileSpiffMemory is the same for spiff.
func TestHostileSpiffMemory(t *testing.T) {
	many := func(expression string) string {
		var out strings.Builder
		for i := range 60 {
			fmt.Fprintf(&out, "x%d: (( %s ))\n", i, expression)
		}
		return out.String()
	}
	const limit = "evaluation makes more than 8388608 bytes"
	tests := []struct{ reason, template, want string }{
		{"values of JSON", `l: (( &temporary( "[" sum[[1..17]|"{},"|s,i|->s s] "1]" ) ))` + "\n" + many("parse(l)"), limit},
		{"lists of numbers", many("[1..1000000]"), limit},
		{"pieces of a text", `l: (( &temporary( sum[[1..18]|"a,"|s,i|->s s] ) ))` + "\n" + many(`split(",", l)`), limit},
		{"results of a function of the caller", many("large()"), limit},
	}
	large := func(context.Context, []any) (any, error) {
		list := make([]any, 20_000)
		for i := range list {
			list[i] = map[string]any{"a": int64(i)}
		}
		return list, nil
	}
	e := &Engine{produced: produced, Functions: Functions{Spiff: map[string]Function{"large": large}}}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			measured(t, test.want, func() error {
				_, err := e.Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor(t, v1alpha1.SpiffTemplateType, test.template)})
				return err
			})
		})
	}
}

// measured fails if a rendering ends in another way or takes too much memory.
func measured(t *testing.T, want string, render func() error) {
	t.Helper()
	runtime.GC()
	peak := watchMemory()
	err := render()
	used := peak()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %.1000v, want %q", err, want)
	}
	if used > keptMemory {
		t.Errorf("it uses %d MiB", used>>20)
	}
	t.Logf("%d MiB", used>>20)
}

// TestSharedMemory renders at the same time: all together stay within one budget, a rendering that
// needs little succeeds, and a rendering that ends in favour of others is asked to try again.
func TestSharedMemory(t *testing.T) {
	const hungry = `{{ $text := printf "[%s{}]" (repeat 50000 "{},") }}{{ $kept := list }}{{ range until 30 }}{{ $kept = append $kept (fromJson $text) }}{{ end }}{{ range until 100000 }}{{ end }}deployItems: []`
	templates := map[v1alpha1.TemplateType]string{v1alpha1.GOTemplateType: hungry, v1alpha1.SpiffTemplateType: "a: (( length([1..500000]) ))\nb: (( length([1..500000]) ))\nc: (( length([1..500000]) ))\ndeployItems: []\n"}
	for kind, template := range templates {
		t.Run(string(kind), func(t *testing.T) {
			e := &Engine{Memory: memlimit.New(160 << 20)}
			run := func(kind v1alpha1.TemplateType, template string) error {
				_, err := e.Execute(t.Context(), Input{Phase: DeployExecution, Executor: executor(t, kind, template)})
				return err
			}
			if err := run(kind, template); err != nil {
				t.Fatalf("one by itself: %v", err)
			}
			runtime.GC()
			peak := watchMemory()
			ended, small := make(chan error, 8), make(chan error, 8)
			for range cap(ended) {
				go func() { ended <- run(kind, template) }()
				go func() { small <- run(v1alpha1.GOTemplateType, `deployItems: {{ list 1 | toJson | quote }}`) }()
			}
			deadline := time.After(5 * time.Minute)
			for range cap(ended) {
				select {
				case err := <-small:
					if err != nil {
						t.Errorf("one that needs little: %v", err)
					}
				case <-deadline:
					t.Fatal("they wait for each other")
				}
				select {
				case err := <-ended:
					var temporary net.Error
					if err != nil && !errors.As(err, &temporary) {
						t.Errorf("it is refused for good: %v", err)
					}
				case <-deadline:
					t.Fatal("they wait for each other")
				}
			}
			if used := peak(); used > hostileMemory {
				t.Errorf("together they use %d MiB", used>>20)
			}
			if err := run(kind, template); err != nil {
				t.Errorf("what was taken did not come back: %v", err)
			}
		})
	}
}
