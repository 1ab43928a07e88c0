package template

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.landscaper.dev/api/v1alpha1"
	"go.landscaper.dev/internal/runtime/sandbox/sandboxtest"
)

// TestHostileMemory keeps what functions make, in variables, lists and maps. Each
// result is small by itself or large in its depth only.
func TestHostileMemory(t *testing.T) {
	const (
		deep = `{{ $text := printf "[%s{}]" (repeat 100000 "{},") }}`
		keep = `{{ $kept := list }}{{ range until 400 }}{{ $kept = append $kept (%s) }}{{ end }}`
	)
	ended(t, execution{Type: v1alpha1.GOTemplateType}, []attack{
		{"values of JSON", deep + fmt.Sprintf(keep, `fromJson $text`), tooMuch},
		{"values of JSON, kept by a map", deep + `{{ $d := dict }}{{ range until 400 }}{{ $_ := set $d (toString .) (mustFromJson $text) }}{{ end }}`, tooMuch},
		{"maps with one key", `{{ $text := printf "[%s{}]" (repeat 50000 "{\"a\":1},") }}` + fmt.Sprintf(keep, `fromJson $text`), tooMuch},
		{"values of YAML", deep + fmt.Sprintf(keep, `fromYaml $text`), tooMuch},
		{"copies", deep + `{{ $v := fromJson $text }}` + fmt.Sprintf(keep, `deepCopy $v`), tooMuch},
		{"results of a function of the caller", fmt.Sprintf(keep, `large`), tooMuch},
		{"pieces of a text", `{{ $text := repeat 300000 "a," }}` + fmt.Sprintf(keep, `splitList "," $text`), tooMuch},
		{"pieces in a map", `{{ $text := repeat 100000 "a," }}` + fmt.Sprintf(keep, `split "," $text`), tooMuch},
		{"numbers", fmt.Sprintf(keep, `until 500000`), tooMuch},
		{"small maps", `{{ $kept := list }}{{ range until 20000 }}{{ $kept = prepend (list $kept) (dict "a" 1) }}{{ range until 20 }}{{ $kept = list (dict "a" $kept) }}{{ end }}{{ end }}`, tooMuch},
		{"a map that grows key by key", `{{ $d := dict }}{{ range until 900000 }}{{ $o := . }}{{ range until 9 }}{{ $_ := set $d (printf "%d-%d" $o .) $o }}{{ end }}{{ end }}`, tooMuch},
		{"a map that grows by merging", `{{ $d := dict }}{{ $v := dict }}{{ range until 1000 }}{{ $_ := set $v (toString .) . }}{{ end }}{{ range until 10000 }}{{ $_ := merge $d (dict (toString .) (merge (dict) $v)) }}{{ end }}`, tooMuch},
		{"templates that templates make", `{{ range until 5000 }}{{ $x := tpl (printf "%d{{ 1 | add 2 | quote }}" .) $ }}{{ end }}{{ fail "end" }}`, "end"},
		{"a long template", strings.Repeat(`{{1}}`, 100_000), "the root of the output must be a map"},
		{"a long action", `{{ $x := list ` + strings.Repeat(`1 `, 600_000) + `}}`, ""},
	})
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
	ended(t, execution{Type: v1alpha1.SpiffTemplateType}, []attack{
		{"values of JSON", `l: (( &temporary( "[" sum[[1..17]|"{},"|s,i|->s s] "1]" ) ))` + "\n" + many("parse(l)"), tooMuch},
		{"lists of numbers", many("[1..1000000]"), tooMuch},
		{"pieces of a text", `l: (( &temporary( sum[[1..18]|"a,"|s,i|->s s] ) ))` + "\n" + many(`split(",", l)`), tooMuch},
		{"results of a function of the caller", many("large()"), tooMuch},
	})
}

// TestManyAtOnce: templates that need much do not keep those of others, which need little, from
// their result.
func TestManyAtOnce(t *testing.T) {
	const hungry = `{{ $text := printf "[%s{}]" (repeat 50000 "{},") }}{{ $kept := list }}{{ range until 30 }}{{ $kept = append $kept (fromJson $text) }}{{ end }}{{ range until 100000 }}{{ end }}deployItems: []`
	templates := map[v1alpha1.TemplateType]string{v1alpha1.GOTemplateType: hungry, v1alpha1.SpiffTemplateType: "a: (( length([1..500000]) ))\nb: (( length([1..500000]) ))\nc: (( length([1..500000]) ))\ndeployItems: []\n"}
	pool := sandboxtest.Pool(t, nil)
	var all sync.WaitGroup
	for kind, template := range templates {
		for range 8 {
			all.Go(func() { _ = executeIn(t, pool, "hungry", execution{Type: kind}, template) })
			all.Go(func() {
				if err := executeIn(t, pool, "small", execution{Type: v1alpha1.GOTemplateType}, `deployItems: {{ list 1 | toJson | quote }}`); err != nil {
					t.Errorf("one that needs little: %v", err)
				}
			})
		}
	}
	all.Wait()
}
